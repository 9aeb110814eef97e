/*
 * Worker.java - a producer and a member of a group in one program: ../README.md
 */
import java.util.Properties;

final class Worker {
    public static void main(String[] args) throws Exception {
        Properties common = Produce.common(args);
        Consume consume = new Consume(common, args[1], args[2]);
        Thread processes = new Thread(consume);
        processes.start();
        Produce.untilTheEnd(new Produce(common, args[1], args[3]));
        consume.end();
        processes.join();
    }
}
