/*
 * Produce.java - sends numbered values and says which were acknowledged; a worker (../README.md) without a consumer
 *
 * Compiles and runs with every client since 0.8.2, which had a producer only.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

final class Produce implements Runnable {
    private final KafkaProducer<String, String> producer;
    private final String topic, name;
    private volatile boolean over;

    Produce(Properties common, String topic, String name) {
        Properties p = new Properties();
        p.putAll(common);
        p.put("acks", "all");
        p.put("enable.idempotence", "true");
        p.put("retries", "1000");
        p.put("linger.ms", "5");
        p.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        p.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        this.producer = new KafkaProducer<>(p);
        this.topic = topic;
        this.name = name;
    }

    @Override
    public void run() {
        try {
            for (long seq = 0; !over; seq++) {
                send("" + seq, name + ":" + seq);
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            producer.close();
        }
    }

    private void send(String key, String value) {
        try {
            producer.send(new ProducerRecord<>(topic, key, value), (metadata, e) ->
                System.out.println(e == null ? "acked " + value : "failed " + value + " " + e));
        } catch (IllegalStateException e) {
            // 0.9.0.1 may refuse a record that it wants to add to a batch it sends again (KAFKA-3594).
            System.err.println(e);
        }
    }

    /* Arguments: bootstrap topic group name [key=value]... */
    static Properties common(String[] args) {
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("metadata.max.age.ms", "5000");
        p.put("retry.backoff.ms", "100");
        for (int i = 4; i < args.length; i++)
            p.put(args[i].split("=")[0], args[i].split("=")[1]);
        return p;
    }

    /* Sends until a line comes in, and returns at the end of the input. */
    static void untilTheEnd(Produce produce) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            e.printStackTrace();
            System.exit(1);
        });
        Thread sends = new Thread(produce);
        sends.start();
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in));
        String line = told.readLine();
        produce.over = true;
        sends.join();
        System.out.println("sent");
        while (line != null)
            line = told.readLine();
    }

    public static void main(String[] args) throws Exception {
        untilTheEnd(new Produce(common(args), args[1], args[3]));
    }
}
