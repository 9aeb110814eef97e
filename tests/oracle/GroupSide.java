import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Consumer groups of Kafka's own clients, for group_change.py: what it is told to do, a line each, is done when a line with a
 * dot follows. Members stay in their groups between the lines, also while the broker is another one.
 */
public final class GroupSide {
    private static final int PARTITIONS = 4;
    private static final String TOPIC = "read";

    private final Properties common = new Properties();
    private final Admin admin;
    private final Map<String, Poller> pollers = new TreeMap<>();

    private GroupSide(String bootstrap) {
        common.put("bootstrap.servers", bootstrap);
        common.put("reconnect.backoff.max.ms", "200");
        common.put("metadata.max.age.ms", "5000");
        admin = Admin.create(common);
    }

    /** A consumer that polls on a thread of its own, so that it stays in its group. */
    private final class Poller extends Thread {
        private final Consumer<byte[], byte[]> consumer;
        private volatile boolean over;

        Poller(Consumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
        }

        @Override
        public void run() {
            while (!over) {
                synchronized (consumer) {
                    consumer.poll(Duration.ofMillis(50));
                }
            }
            consumer.close();
        }

        void commit(long add, String metadata) {
            synchronized (consumer) {
                Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                for (TopicPartition tp : consumer.assignment())
                    offsets.put(tp, new OffsetAndMetadata(add + tp.partition(), java.util.Optional.of(0), metadata));
                consumer.commitSync(offsets, Duration.ofSeconds(20));
            }
        }

        int owned() {
            synchronized (consumer) {
                return consumer.assignment().size();
            }
        }

        void end() throws InterruptedException {
            over = true;
            join();
        }
    }

    private Consumer<byte[], byte[]> consumer(String group, String instance, Class<?> assignor) {
        Properties p = new Properties();
        p.putAll(common);
        p.put("group.id", group);
        p.put("client.id", "of-" + group);
        if (instance != null)
            p.put("group.instance.id", instance);
        p.put("partition.assignment.strategy", assignor.getName());
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", "60000");
        p.put("heartbeat.interval.ms", "500");
        p.put("key.deserializer", ByteArrayDeserializer.class.getName());
        p.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return new KafkaConsumer<>(p);
    }

    /* name: of the poller, "group/number"; an instance where static. */
    private void join(String name, boolean isStatic, Class<?> assignor) {
        Consumer<byte[], byte[]> c = consumer(name.split("/")[0], isStatic ? name.replace('/', '-') : null, assignor);
        c.subscribe(List.of(TOPIC));
        Poller p = new Poller(c);
        pollers.put(name, p);
        p.start();
    }

    private void awaitShared(String group) throws InterruptedException {
        for (int i = 0; i < 600; i++) {
            List<Integer> owned = pollers.entrySet().stream().filter(e -> e.getKey().startsWith(group + "/"))
                .map(e -> e.getValue().owned()).toList();
            if (owned.stream().mapToInt(n -> n).sum() == PARTITIONS && !owned.contains(0))
                return;
            Thread.sleep(50);
        }
        throw new IllegalStateException(group + " is not shared by its members");
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(long from, String metadata) {
        Map<TopicPartition, OffsetAndMetadata> out = new HashMap<>();
        for (int p = 0; p < PARTITIONS; p++)
            out.put(new TopicPartition(TOPIC, p),
                new OffsetAndMetadata(from + p, p % 2 == 0 ? java.util.Optional.of(p) : java.util.Optional.empty(), metadata));
        return out;
    }

    private void commitFor(String group, long from, String metadata) throws Exception {
        admin.alterConsumerGroupOffsets(group, offsets(from, metadata)).all().get();
    }

    /** Offsets in a transaction that is committed, or aborted. */
    private void transact(String id, String group, long from, boolean isCommit) {
        Properties p = new Properties();
        p.putAll(common);
        p.put("transactional.id", id);
        p.put("key.serializer", ByteArraySerializer.class.getName());
        p.put("value.serializer", ByteArraySerializer.class.getName());
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(offsets(from, "in a transaction"), new ConsumerGroupMetadata(group));
            if (isCommit)
                producer.commitTransaction();
            else
                producer.abortTransaction();
        }
    }

    /** Groups of all kinds; Kafka is the broker. */
    private void make() throws Exception {
        admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
        Properties p = new Properties();
        p.putAll(common);
        p.put("key.serializer", ByteArraySerializer.class.getName());
        p.put("value.serializer", ByteArraySerializer.class.getName());
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p)) {
            for (int i = 0; i < 400; i++)
                producer.send(new ProducerRecord<>(TOPIC, i % PARTITIONS, null, new byte[10]));
        }
        for (String name : List.of("active/1", "active/2", "leaves/1"))
            join(name, false, RangeAssignor.class);
        for (String name : List.of("static/1", "static/2"))
            join(name, true, CooperativeStickyAssignor.class);
        for (String group : List.of("active", "static", "leaves"))
            awaitShared(group);
        for (Poller poller : pollers.values())
            poller.commit(20, "metadata, ü");
        pollers.remove("leaves/1").end();
        commitFor("simple", 30, "");
        commitFor("", 35, "of the group without a name");
        commitFor("deleted", 40, "gone");
        commitFor("partly", 50, "kept");
        admin.deleteConsumerGroups(List.of("deleted")).all().get();
        admin.deleteConsumerGroupOffsets("partly", Set.of(new TopicPartition(TOPIC, 1))).all().get();
        transact("t1", "transaction", 60, true);
        transact("t2", "aborted", 70, false);
        transact("t3", "transaction", 80, false);
    }

    /** The same groups go on; so much that the cleaner has something to do. */
    private void more(int round) throws Exception {
        for (int i = 0; i < 150; i++) {
            commitFor("churned", i, "of round " + round + ", number " + i);
            commitFor("simple", 30 + i, "");
        }
        for (Poller poller : pollers.values())
            poller.commit(20 + round, "round " + round);
        commitFor("new-" + round, round, "");
        commitFor("reborn", round, "again");
        admin.deleteConsumerGroups(List.of("reborn")).all().get();
        commitFor("partly", 50 + round, "round " + round);
        admin.deleteConsumerGroupOffsets("partly", Set.of(new TopicPartition(TOPIC, 2))).all().get();
    }

    private static String text(MemberDescription m) {
        return "    member " + m.consumerId() + " " + m.groupInstanceId() + " " + m.clientId() + " " + m.host() + " "
            + m.assignment().topicPartitions().stream().map(TopicPartition::toString).sorted().toList();
    }

    private void tellGroup(ConsumerGroupListing listing) throws Exception {
        String id = listing.groupId();
        ConsumerGroupDescription d = admin.describeConsumerGroups(List.of(id)).all().get().get(id);
        System.out.println("group '" + id + "' listed " + listing.state() + " " + listing.type() + " simple="
            + listing.isSimpleConsumerGroup() + " described " + d.state() + " " + d.type() + " '" + d.partitionAssignor()
            + "' simple=" + d.isSimpleConsumerGroup() + " at " + d.coordinator().id());
        d.members().stream().map(GroupSide::text).sorted().forEach(System.out::println);
        Map<TopicPartition, OffsetAndMetadata> offsets = admin.listConsumerGroupOffsets(id).partitionsToOffsetAndMetadata().get();
        for (String line : offsets.entrySet().stream().map(e -> "    offset " + e).sorted().collect(Collectors.toList()))
            System.out.println(line);
    }

    private void tell() throws Exception {
        List<ConsumerGroupListing> groups = new ArrayList<>(admin.listConsumerGroups().all().get());
        groups.sort(java.util.Comparator.comparing(ConsumerGroupListing::groupId));
        for (ConsumerGroupListing group : groups)
            tellGroup(group);
        for (Map.Entry<String, Poller> e : pollers.entrySet())
            synchronized (e.getValue().consumer) {
                System.out.println(e.getKey() + " generation " + e.getValue().consumer.groupMetadata().generationId() + " owns "
                    + e.getValue().consumer.assignment().stream().map(TopicPartition::toString).sorted().toList());
            }
    }

    public static void main(String[] args) throws Exception {
        GroupSide side = new GroupSide(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "make" -> side.make();
                case "more" -> side.more(Integer.parseInt(words[1]));
                case "tell" -> side.tell();
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println(".");
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
