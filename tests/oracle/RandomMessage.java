import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.MemoryRecords;

/** Fills Kafka's generated message classes with random content, led by the schema that each class carries. */
final class RandomMessage {
    private static final String[] TEXT = {"a", "topic", "\u00e9", "\u20ac", "\ud83d\ude00", "\"", "\\", " ", "x".repeat(150)};
    private final Random random;

    RandomMessage(Random random) {
        this.random = random;
    }

    void fill(Object message, Schema schema) throws ReflectiveOperationException {
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields) {
                for (org.apache.kafka.common.protocol.types.Field f : tagged(bound.def.type)) {
                    if (random.nextInt(3) > 0) {
                        set(message, f.name, f.type);
                    }
                }
            } else {
                set(message, bound.def.name, bound.def.type);
            }
        }
    }

    /** Kafka keeps the fields of a tag section to itself. */
    @SuppressWarnings("unchecked")
    private static Collection<org.apache.kafka.common.protocol.types.Field> tagged(Type type) throws ReflectiveOperationException {
        Field fields = TaggedFields.class.getDeclaredField("fields");
        fields.setAccessible(true);
        return ((Map<Integer, org.apache.kafka.common.protocol.types.Field>) fields.get(type)).values();
    }

    private void set(Object message, String name, Type type) throws ReflectiveOperationException {
        Field field = find(message.getClass(), name);
        field.setAccessible(true);
        // The schemas do not say which structs may be null; one may.
        boolean nullable = type.isNullable()
            || message.getClass().getSimpleName().equals("ConsumerGroupHeartbeatResponseData") && name.equals("assignment");
        field.set(message, nullable && random.nextInt(4) == 0 ? null : value(type, field.getGenericType()));
    }

    private static Field find(Class<?> type, String name) {
        for (Field f : type.getDeclaredFields()) {
            if (f.getName().equalsIgnoreCase(name.replace("_", ""))) {
                return f;
            }
        }
        throw new IllegalStateException(type + " has no field " + name);
    }

    private Object value(Type type, java.lang.reflect.Type java) throws ReflectiveOperationException {
        if (type.isArray()) {
            return collection(type.arrayElementType().get(), java);
        }
        if (type instanceof Schema) {
            Object nested = ((Class<?>) java).getConstructor().newInstance();
            fill(nested, (Schema) type);
            return nested;
        }
        switch (type.toString().replace("COMPACT_", "").replace("NULLABLE_", "")) {
            case "BOOLEAN": return random.nextBoolean();
            case "INT8": return (byte) random.nextInt();
            case "INT16": return (short) random.nextInt();
            case "UINT16": return random.nextInt(1 << 16);
            case "INT32": return random.nextInt();
            case "INT64": return random.nextLong();
            case "FLOAT64": return random.nextGaussian() * 1e6;
            case "UUID": return new Uuid(random.nextLong(), random.nextLong());
            case "STRING": return text();
            case "BYTES": return java == byte[].class ? (Object) bytes() : ByteBuffer.wrap(bytes());
            case "RECORDS": return MemoryRecords.readableRecords(ByteBuffer.wrap(bytes()));
            default: throw new IllegalStateException("unknown type " + type);
        }
    }

    @SuppressWarnings("unchecked")
    private Object collection(Type element, java.lang.reflect.Type java) throws ReflectiveOperationException {
        boolean plain = java instanceof ParameterizedType; // List<X>; else a class that extends a collection of X
        ParameterizedType of = (ParameterizedType) (plain ? java : ((Class<?>) java).getGenericSuperclass());
        Collection<Object> out = plain ? new ArrayList<>() : (Collection<Object>) ((Class<?>) java).getConstructor().newInstance();
        for (int n = random.nextInt(4); n > 0; n--) {
            out.add(value(element, of.getActualTypeArguments()[0]));
        }
        return out;
    }

    private String text() {
        StringBuilder out = new StringBuilder();
        for (int n = random.nextInt(4); n > 0; n--) {
            out.append(TEXT[random.nextInt(TEXT.length)]);
        }
        return out.toString();
    }

    private byte[] bytes() {
        byte[] out = new byte[random.nextInt(20) == 0 ? 2000 : random.nextInt(20)];
        random.nextBytes(out);
        return out;
    }
}
