import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.security.EncryptingPasswordEncoder;

/** Opens a sealed password as Kafka's broker does: the secret, and the text as it stands in ZooKeeper. */
public final class SealedReader {
    private SealedReader() {
    }

    public static void main(String[] args) throws Exception {
        String cipher = args[1].contains("GCM") ? "AES/GCM/NoPadding" : "AES/CBC/PKCS5Padding";
        EncryptingPasswordEncoder reader =
            new EncryptingPasswordEncoder(new Password(args[0]), null, cipher, 128, 4096);
        System.out.print(reader.decode(args[1]).value());
    }
}
