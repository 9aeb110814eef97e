import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;

/** What Kafka's own code makes of one kind of message in one version. */
abstract class KafkaSide {
    private static final String[] PLACES = {
        "org.apache.kafka.common.message.%sData", "org.apache.kafka.common.message.%s",
        "org.apache.kafka.coordinator.group.generated.%s", "org.apache.kafka.coordinator.transaction.generated.%s"};

    /** Random content, serialised. */
    abstract byte[] make(Random random) throws Exception;

    /** Reads the bytes and serialises what it read. */
    abstract byte[] echo(byte[] in) throws Exception;

    /** What the bytes say, by names. */
    abstract JsonNode json(byte[] in) throws Exception;

    static KafkaSide of(String name, short version) throws ReflectiveOperationException {
        switch (name) {
            case "ControlRecordKey": return new ControlKey();
            case "EndTxnMarker": return new EndMarker();
            default: return new Generated(find(name), version);
        }
    }

    /** The class that Kafka generates for a message. */
    static Class<?> find(String name) throws ClassNotFoundException {
        for (String place : PLACES) {
            try {
                return Class.forName(String.format(place, name));
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new ClassNotFoundException(name + " is in none of Kafka's packages");
    }

    static final class Generated extends KafkaSide {
        private final Class<?> type;
        private final short version;
        private final Schema schema;

        Generated(Class<?> type, short version) throws ReflectiveOperationException {
            this.type = type;
            this.version = version;
            this.schema = ((Schema[]) type.getField("SCHEMAS").get(null))[version];
        }

        byte[] make(Random random) throws Exception {
            Message message = (Message) type.getConstructor().newInstance();
            new RandomMessage(random).fill(message, schema);
            return write(message);
        }

        byte[] echo(byte[] in) throws Exception {
            return write(read(in));
        }

        JsonNode json(byte[] in) throws Exception {
            return (JsonNode) Class.forName(type.getName() + "JsonConverter")
                .getMethod("write", type, short.class, boolean.class).invoke(null, read(in), version, false);
        }

        private Message read(byte[] in) throws Exception {
            Message message = (Message) type.getConstructor().newInstance();
            ByteBuffer buffer = ByteBuffer.wrap(in);
            message.read(new ByteBufferAccessor(buffer), version);
            if (buffer.hasRemaining()) {
                throw new IllegalStateException(buffer.remaining() + " bytes left over");
            }
            return message;
        }

        private byte[] write(Message message) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer out = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(out), cache, version);
            return out.array();
        }
    }

    /** The bytes of these two begin with their version, which our side keeps apart: 0. */
    private static byte[] withoutVersion(ByteBuffer in) {
        byte[] out = new byte[in.remaining() - 2];
        in.position(in.position() + 2);
        in.get(out);
        return out;
    }

    private static ByteBuffer withVersion(byte[] in) {
        return (ByteBuffer) ByteBuffer.allocate(in.length + 2).putShort((short) 0).put(in).flip();
    }

    static final class ControlKey extends KafkaSide {
        byte[] make(Random random) {
            Struct key = (random.nextBoolean() ? ControlRecordType.COMMIT : ControlRecordType.ABORT).recordKey();
            ByteBuffer out = ByteBuffer.allocate(key.sizeOf());
            key.writeTo(out);
            out.flip();
            return withoutVersion(out);
        }

        byte[] echo(byte[] in) {
            return ByteBuffer.allocate(2).putShort(ControlRecordType.parseTypeId(withVersion(in))).array();
        }

        JsonNode json(byte[] in) {
            return JsonNodeFactory.instance.objectNode().put("type", ControlRecordType.parseTypeId(withVersion(in)));
        }
    }

    static final class EndMarker extends KafkaSide {
        byte[] make(Random random) {
            return withoutVersion(new EndTransactionMarker(ControlRecordType.COMMIT, random.nextInt()).serializeValue());
        }

        byte[] echo(byte[] in) throws Exception {
            return withoutVersion(new EndTransactionMarker(ControlRecordType.COMMIT, epoch(in)).serializeValue());
        }

        JsonNode json(byte[] in) throws Exception {
            return JsonNodeFactory.instance.objectNode().put("coordinatorEpoch", epoch(in));
        }

        /** Kafka keeps its reader of markers to its own package. */
        private static int epoch(byte[] in) throws ReflectiveOperationException {
            Method reader = EndTransactionMarker.class
                .getDeclaredMethod("deserializeValue", ControlRecordType.class, ByteBuffer.class);
            reader.setAccessible(true);
            return ((EndTransactionMarker) reader.invoke(null, ControlRecordType.COMMIT, withVersion(in))).coordinatorEpoch();
        }
    }
}
