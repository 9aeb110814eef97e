/*
 * JavaMember.java - a member on Kafka's own consumer; what it is told and what it says: README.md
 */
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public final class JavaMember {
    private static final Map<String, Class<?>> STRATEGIES = Map.of("range", RangeAssignor.class, "roundrobin",
        RoundRobinAssignor.class, "sticky", StickyAssignor.class, "cooperative", CooperativeStickyAssignor.class);
    private static volatile boolean over;

    public static void main(String[] args) {
        Thread reader = new Thread(JavaMember::awaitEnd);
        reader.setDaemon(true);
        reader.start();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(options(args))) {
            consumer.subscribe(List.of(args[1]), new Say(consumer));
            while (!over)
                process(consumer, consumer.poll(Duration.ofMillis(200)));
        }
    }

    private static void awaitEnd() {
        try {
            System.in.readAllBytes();
        } catch (IOException e) {
            System.err.println(e);
        }
        over = true;
    }

    private static Properties options(String[] args) {
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("group.id", args[2]);
        p.put("partition.assignment.strategy", STRATEGIES.get(args[3]).getName());
        if (args.length > 4)
            p.put("group.instance.id", args[4]);
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", args.length > 4 ? "45000" : "6000");
        p.put("heartbeat.interval.ms", "1000");
        p.put("max.poll.interval.ms", "60000");
        p.put("metadata.max.age.ms", "5000");
        p.put("request.timeout.ms", "10000");
        p.put("default.api.timeout.ms", "15000");
        p.put("key.deserializer", ByteArrayDeserializer.class.getName());
        p.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return p;
    }

    private static void process(KafkaConsumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> records) {
        Map<TopicPartition, OffsetAndMetadata> commits = new HashMap<>();
        for (TopicPartition tp : records.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> list = records.records(tp);
            long last = list.get(list.size() - 1).offset();
            System.out.println("done " + tp.partition() + " " + list.get(0).offset() + " " + last + " " + list.size());
            commits.put(tp, new OffsetAndMetadata(last + 1));
        }
        System.out.flush();
        try {
            if (!commits.isEmpty())
                consumer.commitSync(commits);
            commits.forEach((tp, kept) -> System.out.println("kept " + tp.partition() + " " + kept.offset()));
        } catch (KafkaException e) {
            System.err.println("commit: " + e);
        }
    }

    private record Say(KafkaConsumer<byte[], byte[]> consumer) implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        }

        /* Also when nothing is added to what it keeps. */
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> added) {
            String owned = consumer.assignment().stream().map(TopicPartition::partition).sorted()
                .map(String::valueOf).collect(Collectors.joining(","));
            System.out.println("own " + consumer.groupMetadata().generationId() + " " + (owned.isEmpty() ? "-" : owned));
            System.out.flush();
        }
    }
}
