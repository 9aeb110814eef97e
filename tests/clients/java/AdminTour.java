/*
 * AdminTour.java - the newest AdminClient at its work on a cluster of three; says what came of each call, always the same;
 * and what the newest consumer says of a group of the new protocol
 *
 * Arguments: bootstrap topic group. The topic has three partitions and records 0..99 in each; the group is not there yet.
 */
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.StringDeserializer;

final class AdminTour {
    private final Admin admin;
    private final String topic, group, made = "made-by-tour";

    private AdminTour(Admin admin, String topic, String group) {
        this.admin = admin;
        this.topic = topic;
        this.group = group;
    }

    public static void main(String[] args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0], "metadata.max.age.ms", "5000"))) {
            AdminTour tour = new AdminTour(admin, args[1], args[2]);
            tour.topics();
            tour.configs();
            tour.records();
            tour.replicas();
            tour.groups();
            tour.newProtocol(args[0]);
            tour.leavings();
        }
    }

    /* What it came to: a text, or the error's name. */
    private static void say(String what, Callable<?> call) throws Exception {
        System.out.println(what + ": " + outcome(call));
    }

    private static String outcome(Callable<?> call) throws Exception {
        try {
            return String.valueOf(call.call());
        } catch (ExecutionException e) {
            return e.getCause().getClass().getSimpleName();
        }
    }

    /* As soon as it comes to that: each broker learns of changes in its own time. */
    private static void await(String what, String wanted, Callable<?> call) throws Exception {
        String last = outcome(call);
        for (int i = 0; i < 600 && !wanted.equals(last); i++) {
            Thread.sleep(100);
            last = outcome(call);
        }
        System.out.println(what + ": " + last);
    }

    private String shape(String name) throws Exception {
        TopicDescription d = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
        return d.partitions().stream().map(p -> p.partition() + ":" + ids(p.replicas()) + "/" + new TreeSet<>(ids(p.isr())))
            .collect(Collectors.joining(" "));
    }

    private static List<Integer> ids(List<Node> nodes) {
        return nodes.stream().map(Node::id).collect(Collectors.toList());
    }

    private void topics() throws Exception {
        say("nodes", () -> new TreeSet<>(ids(List.copyOf(admin.describeCluster().nodes().get()))));
        say("operations", () -> admin.describeCluster().authorizedOperations().get());
        NewTopic topic = new NewTopic(made, Map.of(0, List.of(1, 2, 3), 1, List.of(2, 3, 1)));
        say("create", () -> admin.createTopics(List.of(topic)).config(made).get().get("retention.ms").value());
        say("create again", () -> admin.createTopics(List.of(topic)).all().get());
        say("create bad", () -> admin.createTopics(List.of(new NewTopic("a b", 1, (short) 1))).all().get());
        say("create too wide", () -> admin.createTopics(List.of(new NewTopic("wide", 1, (short) 9))).all().get());
        await("described", "0:[1, 2, 3]/[1, 2, 3] 1:[2, 3, 1]/[1, 2, 3]", () -> shape(made));
        say("widen", () -> admin.createPartitions(Map.of(made, NewPartitions.increaseTo(3, List.of(List.of(3, 1, 2))))).all().get());
        say("narrow", () -> admin.createPartitions(Map.of(made, NewPartitions.increaseTo(2))).all().get());
        await("wider", "0:[1, 2, 3]/[1, 2, 3] 1:[2, 3, 1]/[1, 2, 3] 2:[3, 1, 2]/[1, 2, 3]", () -> shape(made));
        await("listed", "true", () -> new TreeSet<>(admin.listTopics().names().get()).contains(made));
        say("unknown", () -> shape("unknown"));
    }

    private void configs() throws Exception {
        ConfigResource ours = new ConfigResource(ConfigResource.Type.TOPIC, made);
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        say("alter", () -> alter(ours, "retention.ms", "12345", AlterConfigOp.OpType.SET));
        say("append", () -> alter(ours, "cleanup.policy", "compact", AlterConfigOp.OpType.APPEND));
        say("alter bad", () -> alter(ours, "retention.ms", "long", AlterConfigOp.OpType.SET));
        say("alter unknown", () -> alter(ours, "no.such.key", "1", AlterConfigOp.OpType.SET));
        await("altered", "12345 DYNAMIC_TOPIC_CONFIG", () -> value(ours, "retention.ms"));
        await("appended", "delete,compact DYNAMIC_TOPIC_CONFIG", () -> value(ours, "cleanup.policy"));
        say("delete", () -> alter(ours, "retention.ms", "", AlterConfigOp.OpType.DELETE));
        await("deleted", "604800000 DEFAULT_CONFIG", () -> value(ours, "retention.ms"));
        say("alter broker", () -> alter(broker, "log.retention.ms", "123456789", AlterConfigOp.OpType.SET));
        await("altered broker", "123456789 DYNAMIC_BROKER_CONFIG", () -> value(broker, "log.retention.ms"));
        say("alter read-only", () -> alter(broker, "zookeeper.connect", "x", AlterConfigOp.OpType.SET));
        say("delete of broker", () -> alter(broker, "log.retention.ms", "", AlterConfigOp.OpType.DELETE));
    }

    private Object alter(ConfigResource resource, String key, String value, AlterConfigOp.OpType type) throws Exception {
        return admin.incrementalAlterConfigs(
            Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(key, value), type)))).all().get();
    }

    private String value(ConfigResource resource, String key) throws Exception {
        ConfigEntry e = admin.describeConfigs(List.of(resource)).all().get().get(resource).get(key);
        return e.value() + " " + e.source();
    }

    private void records() throws Exception {
        TopicPartition tp = new TopicPartition(topic, 0);
        say("earliest", () -> offset(tp, OffsetSpec.earliest()));
        say("latest", () -> offset(tp, OffsetSpec.latest()));
        say("at 0", () -> offset(tp, OffsetSpec.forTimestamp(0)));
        say("in the future", () -> offset(tp, OffsetSpec.forTimestamp(Long.MAX_VALUE)));
        say("local", () -> offset(tp, OffsetSpec.earliestLocal()));
        say("tiered", () -> offset(tp, OffsetSpec.latestTiered()));
        say("delete records", () -> low(tp, 40));
        say("delete too many", () -> low(tp, 1000));
        say("earliest now", () -> offset(tp, OffsetSpec.earliest()));
        say("producers", () -> admin.describeProducers(List.of(tp)).partitionResult(tp).get().activeProducers().size());
    }

    private long offset(TopicPartition tp, OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(tp, spec)).partitionResult(tp).get().offset();
    }

    private long low(TopicPartition tp, long before) throws Exception {
        return admin.deleteRecords(Map.of(tp, RecordsToDelete.beforeOffset(before))).lowWatermarks().get(tp).get().lowWatermark();
    }

    private void replicas() throws Exception {
        TopicPartition tp = new TopicPartition(made, 0);
        say("log dirs", () -> new TreeSet<>(admin.describeLogDirs(List.of(1, 2, 3)).allDescriptions().get().keySet()));
        say("reassign", () -> admin.alterPartitionReassignments(
            Map.of(tp, Optional.of(new NewPartitionReassignment(List.of(3, 2))))).all().get());
        await("reassigned", "0:[3, 2]/[2, 3]", () -> shape(made).split(" 1:")[0]);
        await("none under way", "{}", () -> admin.listPartitionReassignments().reassignments().get());
        say("cancel none", () -> admin.alterPartitionReassignments(Map.of(tp, Optional.empty())).all().get());
        say("elect", () -> admin.electLeaders(ElectionType.UNCLEAN, Set.of(tp)).partitions().get().get(tp)
            .map(e -> e.getClass().getSimpleName()).orElse("elected"));
    }

    private void groups() throws Exception {
        TopicPartition tp = new TopicPartition(topic, 0), other = new TopicPartition(topic, 1);
        say("offsets of a new group", this::offsets);
        say("commit", () -> admin.alterConsumerGroupOffsets(group, Map.of(tp, new OffsetAndMetadata(41, "hello"),
            other, new OffsetAndMetadata(7))).all().get());
        say("offsets", this::offsets);
        say("described group", this::described);
        say("groups", () -> admin.listGroups().all().get().stream().anyMatch(g -> g.groupId().equals(group)));
        say("forget", () -> admin.deleteConsumerGroupOffsets(group, Set.of(other)).all().get());
        say("offsets left", this::offsets);
        say("delete group", () -> admin.deleteConsumerGroups(List.of(group)).all().get());
        say("delete no group", () -> admin.deleteConsumerGroups(List.of(group)).all().get());
        say("describe no group", this::described);
    }

    private Object offsets() throws Exception {
        Map<String, String> out = new TreeMap<>();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach((tp, at) ->
            out.put(tp.toString(), at.offset() + at.metadata()));
        return out;
    }

    private String described() throws Exception {
        ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        return d.groupState() + " " + d.members().size();
    }

    /* How the group protocol of KIP-848 is refused. */
    private void newProtocol(String bootstrap) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", bootstrap,
                 "group.id", group, "group.protocol", "consumer"), new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            for (int i = 0; i < 600; i++)
                consumer.poll(Duration.ofMillis(100));
            System.out.println("new protocol: nothing said");
        } catch (UnsupportedVersionException e) {
            System.out.println("new protocol: " + e.getMessage() + " Cause: " + e.getCause());
        }
    }

    private void leavings() throws Exception {
        say("features", () -> admin.describeFeatures().featureMetadata().get().finalizedFeatures());
        say("delete topic", () -> admin.deleteTopics(List.of(made)).all().get());
        say("delete no topic", () -> admin.deleteTopics(List.of("unknown")).all().get());
        await("gone", "false", () -> admin.listTopics().names().get().contains(made));
    }
}
