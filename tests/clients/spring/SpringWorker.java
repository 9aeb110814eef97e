/*
 * SpringWorker.java - a worker on Spring Kafka's KafkaTemplate and @KafkaListener: ../README.md
 *
 * The option reset is what a group without offsets does: earliest, latest or none; produce=no leaves out the template. Says
 * `ready` once partitions are assigned to the listener, and `stopped REASON` when its container ends by itself.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;

@Configuration
@EnableKafka
public class SpringWorker {
    private static final Map<String, Object> COMMON = new HashMap<>();
    private static String reset = "earliest";
    private static volatile boolean over;

    @Bean
    public KafkaTemplate<String, String> template() {
        Map<String, Object> p = new HashMap<>(COMMON);
        p.put("acks", "all");
        p.put("linger.ms", "5");
        return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(p, new StringSerializer(), new StringSerializer()));
    }

    @Bean
    public ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
        Map<String, Object> p = new HashMap<>(COMMON);
        p.put("auto.offset.reset", reset);
        p.put("session.timeout.ms", "15000");
        p.put("heartbeat.interval.ms", "1000");
        ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(p, new StringDeserializer(), new StringDeserializer()));
        factory.setBatchListener(true);
        factory.getContainerProperties().setConsumerRebalanceListener(new SayReady());
        return factory;
    }

    @KafkaListener(topics = "${topic}", groupId = "${group}")
    public void listen(List<String> values) {
        System.out.println("processed " + String.join(" ", values));
    }

    @EventListener
    public void stopped(ConsumerStoppedEvent event) {
        System.out.println("stopped " + event.getReason());
    }

    private static final class SayReady implements ConsumerAwareRebalanceListener {
        /* Where it begins is decided before it is said. */
        @Override
        public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
            partitions.forEach(consumer::position);
            System.out.println("ready");
        }
    }

    private static void send(KafkaTemplate<String, String> template, String topic, String name) {
        for (long seq = 0; !over; seq++) {
            String value = name + ":" + seq;
            template.send(topic, "" + seq, value).whenComplete((sent, e) ->
                System.out.println(e == null ? "acked " + value : "failed " + value + " " + e));
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        template.flush();
    }

    public static void main(String[] args) throws Exception {
        List<String> options = Arrays.asList(args).subList(4, args.length);
        COMMON.put("bootstrap.servers", args[0]);
        COMMON.put("metadata.max.age.ms", "5000");
        System.setProperty("topic", args[1]);
        System.setProperty("group", args[2]);
        for (String option : options)
            if (option.startsWith("reset="))
                reset = option.substring("reset=".length());
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(SpringWorker.class)) {
            @SuppressWarnings("unchecked")
            KafkaTemplate<String, String> template = context.getBean(KafkaTemplate.class);
            Thread sends = new Thread(() -> send(template, args[1], args[3]));
            if (!options.contains("produce=no"))
                sends.start();
            BufferedReader told = new BufferedReader(new InputStreamReader(System.in));
            String line = told.readLine();
            over = true;
            sends.join();
            System.out.println("sent");
            while (line != null)
                line = told.readLine();
        }
    }
}
