import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.Message;

/**
 * Compares our codec with Kafka's generated classes, for every message and version that ours has.
 *
 *   java CodecOracle CODEC-ORACLE SEED ROUNDS
 *
 * Both ways: random messages that Kafka serialises come back from ours as the same bytes, and say the same by names;
 * random messages of ours are read by Kafka, say the same, and are serialised to the same bytes. Version ranges and
 * header versions are compared too. Ends with a line of counts; one test is a pair of message and version.
 */
public final class CodecOracle {
    private static final int SHOWN = 20;
    private final ObjectMapper mapper = new ObjectMapper();
    private final OurSide ours;
    private final Random random;
    private final int rounds;
    private int passed;
    private int failed;

    private CodecOracle(OurSide ours, long seed, int rounds) {
        this.ours = ours;
        this.random = new Random(seed);
        this.rounds = rounds;
    }

    public static void main(String[] args) throws Exception {
        try (OurSide ours = new OurSide(args[0])) {
            CodecOracle oracle = new CodecOracle(ours, Long.parseLong(args[1]), Integer.parseInt(args[2]));
            int messages = oracle.run();
            System.out.printf("codec against Kafka's classes: %d messages, %d (message, version) pairs, %d random messages each way%n",
                messages, oracle.passed + oracle.failed, oracle.rounds);
            System.out.printf("%d passed, %d failed, 0 skipped%n", oracle.passed, oracle.failed);
            System.exit(oracle.failed == 0 ? 0 : 1);
        }
    }

    private int run() throws Exception {
        String[] lines = ours.list().text.split("\n");
        for (String line : lines) {
            String[] word = line.split(" ");
            String versions = differenceOfVersions(word);
            for (int v = Integer.parseInt(word[1]); v <= Integer.parseInt(word[2]); v++) {
                String wrong = versions != null ? versions : compare(word[0], (short) v);
                if (wrong == null) {
                    passed++;
                } else if (failed++ < SHOWN) {
                    System.out.printf("FAILED %s version %d: %s%n", word[0], v, wrong);
                }
            }
        }
        return lines.length;
    }

    private String differenceOfVersions(String[] word) throws Exception {
        if (word[0].equals("ControlRecordKey") || word[0].equals("EndTxnMarker")) {
            return null; /* not generated: they have the one version that KafkaSide knows */
        }
        Message message = (Message) KafkaSide.find(word[0]).getConstructor().newInstance();
        String range = message.lowestSupportedVersion() + " " + message.highestSupportedVersion();
        if (!range.equals(word[1] + " " + word[2])) {
            return "Kafka has versions " + range;
        }
        if (word[4].equals("-")) {
            return null;
        }
        StringBuilder headers = new StringBuilder();
        boolean request = word[0].endsWith("Request");
        ApiMessageType api = ApiMessageType.fromApiKey(((org.apache.kafka.common.protocol.ApiMessage) message).apiKey());
        for (short v = message.lowestSupportedVersion(); v <= message.highestSupportedVersion(); v++) {
            headers.append(request ? api.requestHeaderVersion(v) : api.responseHeaderVersion(v));
        }
        return headers.toString().equals(word[4]) ? null : "Kafka's header versions are " + headers;
    }

    /** Null, or the first thing that differs. */
    private String compare(String name, short version) throws Exception {
        KafkaSide kafka = KafkaSide.of(name, version);
        for (int i = 0; i < rounds; i++) {
            byte[] theirs = kafka.make(random);
            String wrong = check(kafka, "Kafka's", theirs, ours.echo(name, version, theirs));
            if (wrong == null) {
                OurSide.Answer made = ours.make(name, version, random.nextLong());
                wrong = made.status != 0 ? "ours cannot encode it: " + made.status
                    : check(kafka, "our", echo(kafka, made.bytes), made);
            }
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    private static byte[] echo(KafkaSide kafka, byte[] in) {
        try {
            return kafka.echo(in);
        } catch (Exception e) {
            System.out.println("Kafka cannot read " + HexFormat.of().formatHex(in) + ": " + e);
            return new byte[0];
        }
    }

    private String check(KafkaSide kafka, String whose, byte[] theirs, OurSide.Answer answer) throws Exception {
        if (answer.status != 0) {
            return "ours refuses " + whose + " message, " + answer.status + ": " + HexFormat.of().formatHex(theirs);
        }
        if (!Arrays.equals(theirs, answer.bytes)) {
            return whose + " message: Kafka's bytes " + HexFormat.of().formatHex(theirs) + " ours " + HexFormat.of().formatHex(answer.bytes);
        }
        String content = SameContent.difference(mapper.readTree(answer.text), kafka.json(theirs));
        return content == null ? null : whose + " message reads differently: " + content;
    }
}
