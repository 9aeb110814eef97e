/*
 * Consume.java - a member of a group that says each value it processed, and commits afterwards
 *
 * Compiles and runs with every client since 0.9.
 */
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;

final class Consume implements Runnable {
    /* 2.0 brought poll(Duration), 4.0 took poll(long) away. */
    private static final boolean TAKES_DURATION = method(Duration.class) != null;
    private static final Method POLL = method(TAKES_DURATION ? Duration.class : long.class);
    private static final Object TIMEOUT = TAKES_DURATION ? Duration.ofMillis(200) : (Object) 200L;

    private final KafkaConsumer<String, String> consumer;
    private final String topic;

    Consume(Properties common, String topic, String group) {
        Properties p = new Properties();
        p.putAll(common);
        p.put("group.id", group);
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        p.put("session.timeout.ms", "15000");
        p.put("heartbeat.interval.ms", "1000");
        p.put("max.poll.interval.ms", "15000");
        p.put("request.timeout.ms", "20000");
        p.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        p.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        this.consumer = new KafkaConsumer<>(p);
        this.topic = topic;
    }

    @Override
    public void run() {
        try {
            consumer.subscribe(Collections.singletonList(topic));
            while (true)
                process(poll());
        } catch (WakeupException e) {
            // That is how it is told to end.
        } finally {
            consumer.close();
        }
    }

    /* From any thread. */
    void end() {
        consumer.wakeup();
    }

    private void process(ConsumerRecords<String, String> records) {
        if (records.isEmpty())
            return;
        StringBuilder said = new StringBuilder("processed");
        for (ConsumerRecord<String, String> r : records)
            said.append(' ').append(r.value());
        System.out.println(said);
        try {
            consumer.commitSync();
        } catch (WakeupException e) {
            throw e;
        } catch (KafkaException e) {
            System.err.println("commit: " + e);
        }
    }

    @SuppressWarnings("unchecked")
    private ConsumerRecords<String, String> poll() {
        try {
            return (ConsumerRecords<String, String>) POLL.invoke(consumer, TIMEOUT);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException)
                throw (RuntimeException) e.getCause();
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method method(Class<?> timeout) {
        try {
            return KafkaConsumer.class.getMethod("poll", timeout);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
