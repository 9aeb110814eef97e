import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Compares what codec_print says with what Kafka's JSON converters say: names, order of values and values.
 *
 * Ours are in snake_case; bytes are told by their length. Kafka leaves tagged fields out that are at their default.
 */
final class SameContent {
    private SameContent() {
    }

    /** Null if they are the same, else what differs where. */
    static String difference(JsonNode ours, JsonNode kafkas) {
        if (ours.isObject() && kafkas.isObject()) {
            return objects(ours, kafkas);
        }
        if (ours.isArray() && kafkas.isArray()) {
            return arrays(ours, kafkas);
        }
        return scalars(ours, kafkas) ? null : "ours " + ours + ", Kafka's " + kafkas;
    }

    private static String objects(JsonNode ours, JsonNode kafkas) {
        Map<String, JsonNode> left = new HashMap<>();
        kafkas.fields().forEachRemaining(f -> left.put(plain(f.getKey()), f.getValue()));
        for (Iterator<Map.Entry<String, JsonNode>> i = ours.fields(); i.hasNext();) {
            Map.Entry<String, JsonNode> field = i.next();
            JsonNode same = left.remove(plain(field.getKey()));
            if (same == null) {
                same = left.remove(plain(field.getKey()) + "sizeinbytes");
            }
            if (same == null && !maybeDefault(field.getValue())) {
                return field.getKey() + ": ours " + field.getValue() + ", Kafka has none";
            }
            String inside = same == null ? null : difference(field.getValue(), same);
            if (inside != null) {
                return field.getKey() + ": " + inside;
            }
        }
        return left.isEmpty() ? null : "Kafka's " + left + " is unknown to us";
    }

    private static String arrays(JsonNode ours, JsonNode kafkas) {
        if (ours.size() != kafkas.size()) {
            return ours.size() + " elements, Kafka has " + kafkas.size();
        }
        for (int i = 0; i < ours.size(); i++) {
            String inside = difference(ours.get(i), kafkas.get(i));
            if (inside != null) {
                return "[" + i + "] " + inside;
            }
        }
        return null;
    }

    private static boolean scalars(JsonNode ours, JsonNode kafkas) {
        if (ours.isNull() || kafkas.isNull()) {
            return ours.isNull() == kafkas.isNull();
        }
        if (ours.isTextual() && kafkas.isBinary()) {
            return ours.textValue().equals("<" + ((com.fasterxml.jackson.databind.node.BinaryNode) kafkas).binaryValue().length + " bytes>");
        }
        if (ours.isTextual() && kafkas.isNumber()) {
            return ours.textValue().equals("<" + kafkas.intValue() + " bytes>");
        }
        if (ours.isNumber() && kafkas.isNumber()) {
            return kafkas.isFloatingPointNumber() ? ours.doubleValue() == kafkas.doubleValue() : ours.longValue() == kafkas.longValue();
        }
        return ours.equals(kafkas);
    }

    /** True for what a field may hold when nothing was said about it. */
    private static boolean maybeDefault(JsonNode value) {
        if (value.isObject()) {
            for (JsonNode inner : value) {
                if (!maybeDefault(inner)) {
                    return false;
                }
            }
            return true;
        }
        if (value.isNumber()) {
            return value.longValue() == 0 || value.longValue() == -1;
        }
        return value.isNull() || value.isArray() && value.size() == 0 || value.isBoolean() && !value.booleanValue()
            || value.isTextual() && (value.textValue().isEmpty() || value.textValue().equals("AAAAAAAAAAAAAAAAAAAAAA"));
    }

    private static String plain(String name) {
        return name.replace("_", "").toLowerCase();
    }
}
