/*
 * StreamsApp.java - Kafka Streams, at least once: passes values on by way of a repartition topic, and counts those of each sender
 *
 * Arguments: bootstrap topic application. Writes to APPLICATION-out and APPLICATION-counts; says its state; ends when its
 * input does.
 */
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;

public final class StreamsApp {
    public static void main(String[] args) throws Exception {
        KafkaStreams streams = new KafkaStreams(topology(args[1], args[2]), options(args[0], args[2]));
        streams.setUncaughtExceptionHandler(e -> {
            e.printStackTrace();
            System.exit(1);
            return null;
        });
        streams.setStateListener((now, before) -> System.out.println("state " + now));
        streams.start();
        System.in.readAllBytes();
        streams.close();
    }

    private static Topology topology(String in, String application) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> bySender = builder.stream(in, Consumed.with(Serdes.String(), Serdes.String()))
            .selectKey((key, value) -> value.split(":")[0])
            .repartition(Repartitioned.with(Serdes.String(), Serdes.String()).withName("by-sender").withNumberOfPartitions(3));
        bySender.to(application + "-out", Produced.with(Serdes.String(), Serdes.String()));
        bySender.groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.as("counts"))
            .toStream().mapValues((sender, count) -> sender + ":" + count)
            .to(application + "-counts", Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }

    private static Properties options(String bootstrap, String application) {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("application.id", application);
        p.put("processing.guarantee", "at_least_once");
        p.put("replication.factor", "3");
        p.put("num.stream.threads", "2");
        p.put("commit.interval.ms", "200");
        p.put("state.dir", System.getProperty("state.dir"));
        p.put("metadata.max.age.ms", "5000");
        p.put("producer.acks", "all");
        p.put("main.consumer.session.timeout.ms", "10000");
        p.put("main.consumer.heartbeat.interval.ms", "1000");
        return p;
    }
}
