/*
 * JavaClient.java - Kafka's own producer and consumer: produces until stdin ends, then reads all of it back
 *
 * Arguments: bootstrap topic. Idempotence on; the consumer is assigned its partitions.
 */
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public final class JavaClient {
    private static final int PARTITIONS = 3;

    public static void main(String[] args) throws Exception {
        Map<Integer, Long> acked = produce(args[0], args[1]);
        Map<Integer, Long> read = consume(args[0], args[1]);
        if (!acked.equals(read))
            throw new AssertionError("acknowledged " + acked.size() + ", read " + read.size());
        System.out.println("acknowledged and read " + read.size());
    }

    private static Properties common(String bootstrap) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("metadata.max.age.ms", "5000");
        p.put("request.timeout.ms", "10000");
        return p;
    }

    private static Map<Integer, Long> produce(String bootstrap, String topic) throws Exception {
        Properties p = common(bootstrap);
        p.put("enable.idempotence", "true");
        p.put("acks", "all");
        p.put("linger.ms", "5");
        p.put("delivery.timeout.ms", "120000");
        List<Future<RecordMetadata>> futures = new ArrayList<>();
        try (KafkaProducer<String, String> producer =
                 new KafkaProducer<>(p, new StringSerializer(), new StringSerializer())) {
            while (!over()) {
                int seq = futures.size();
                futures.add(producer.send(new ProducerRecord<>(topic, seq % PARTITIONS, null, "" + seq)));
                if (seq == 10) {
                    futures.get(0).get(60, TimeUnit.SECONDS);
                    System.out.println("begun");
                }
                Thread.sleep(1);
            }
            producer.flush();
        }
        Map<Integer, Long> acked = new HashMap<>();
        for (int seq = 0; seq < futures.size(); seq++)
            acked.put(seq, futures.get(seq).get().offset());
        return acked;
    }

    /* A byte on stdin says that it is over. */
    private static boolean over() throws IOException {
        return System.in.available() > 0;
    }

    private static Map<Integer, Long> consume(String bootstrap, String topic) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++)
            partitions.add(new TopicPartition(topic, i));
        Map<Integer, Long> read = new HashMap<>();
        Map<Integer, Integer> last = new HashMap<>();
        try (KafkaConsumer<String, String> consumer =
                 new KafkaConsumer<>(common(bootstrap), new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(tp -> consumer.position(tp) < ends.get(tp))) {
                for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofSeconds(1))) {
                    int seq = Integer.parseInt(r.value());
                    if (read.put(seq, r.offset()) != null)
                        throw new AssertionError(seq + " is there twice");
                    Integer before = last.put(r.partition(), seq);
                    if (before != null && before > seq)
                        throw new AssertionError(seq + " is out of order");
                }
            }
        }
        return read;
    }
}
