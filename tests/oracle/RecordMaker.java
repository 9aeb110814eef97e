import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Crc32C;

/** What a client may send: mostly right, with faults of every kind mixed in. */
final class RecordMaker {
    static final long NOW = 1700000000000L;
    private final Random random;

    RecordMaker(Random random) {
        this.random = random;
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    byte[] bytes(int max) {
        byte[] b = new byte[random.nextInt(max)];
        for (int i = 0; i < b.length; i++) {
            b[i] = (byte) ('a' + random.nextInt(3));
        }
        return b;
    }

    SimpleRecord record(boolean withHeaders) {
        long timestamp = oneIn(12) ? -1 : NOW + random.nextInt(4000) - 2000;
        byte[] key = oneIn(4) ? null : bytes(10);
        byte[] value = oneIn(8) ? null : bytes(oneIn(10) ? 3000 : 50);
        Header[] headers = new Header[withHeaders && oneIn(4) ? random.nextInt(3) : 0];
        for (int i = 0; i < headers.length; i++) {
            headers[i] = new RecordHeader("h" + i, oneIn(3) ? null : bytes(8));
        }
        return new SimpleRecord(timestamp, key, value, headers);
    }

    /** One batch of v2, or one set of v0 or v1. */
    byte[] batch(byte magic, long baseOffset) {
        CompressionType type = CompressionType.forId(random.nextInt(magic == 2 ? 5 : 4));
        boolean appendTime = magic > 0 && oneIn(10);
        boolean idempotent = magic == 2 && oneIn(3);
        boolean transactional = idempotent && oneIn(3);
        int sequence = oneIn(8) ? -1 : random.nextInt(100);
        if (transactional && sequence < 0) {
            sequence = 0;
        }
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(out, magic, Compression.of(type).build(),
            appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME, baseOffset,
            appendTime ? (oneIn(3) ? -1 : NOW + 5) : -1, idempotent ? 77 : -1, idempotent ? (short) 3 : -1,
            idempotent ? Math.max(sequence, 0) : -1, transactional, false, -1, 1 << 20);
        int count = 1 + random.nextInt(12);
        for (int i = 0; i < count; i++) {
            builder.append(record(magic == 2));
        }
        MemoryRecords records = builder.build();
        byte[] bytes = new byte[records.sizeInBytes()];
        records.buffer().get(bytes);
        if (idempotent && sequence < 0) {
            ByteBuffer.wrap(bytes).putInt(53, -1);
            fixV2(bytes);
        }
        return bytes;
    }

    static void fixV2(byte[] b) {
        ByteBuffer.wrap(b).putInt(17, (int) Crc32C.compute(b, 21, b.length - 21));
    }

    /** A checksum of a first entry that is right for what the bytes are now. */
    static void fix(byte[] b) {
        if (b.length < 61) {
            return;
        }
        int size = ByteBuffer.wrap(b).getInt(8) + 12;
        if (size < 27 || size > b.length) {
            return;
        }
        if (b[16] == 2 && size == b.length) {
            fixV2(b);
        } else if (b[16] < 2) {
            java.util.zip.CRC32 crc = new java.util.zip.CRC32();
            crc.update(b, 16, size - 16);
            ByteBuffer.wrap(b).putInt(12, (int) crc.getValue());
        }
    }

    private void spoilHeader(byte[] b) {
        ByteBuffer buffer = ByteBuffer.wrap(b);
        int[] ints = {23, 53, 57};
        int at = ints[random.nextInt(ints.length)];
        switch (random.nextInt(6)) {
            case 0: buffer.putShort(21, (short) (buffer.getShort(21) ^ 1 << random.nextInt(8))); break;
            case 1: buffer.putLong(35, buffer.getLong(35) + random.nextInt(5000) - 2500); break;
            case 2: buffer.putLong(27, buffer.getLong(27) + random.nextInt(5000) - 2500); break;
            case 3: buffer.putInt(at, oneIn(4) ? random.nextInt() : buffer.getInt(at) + random.nextInt(5) - 2); break;
            case 4:
                int n = random.nextInt(5) - 2;
                buffer.putInt(23, buffer.getInt(23) + n);
                buffer.putInt(57, buffer.getInt(57) + n);
                break;
            default: buffer.putLong(0, random.nextInt(3)); break;
        }
    }

    byte[] spoil(byte[] b) {
        if (b.length >= 61 && b[16] == 2 && oneIn(2)) {
            spoilHeader(b);
        } else {
            b[random.nextInt(b.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (!oneIn(5)) {
            fix(b);
        }
        return b;
    }

    byte[] produced() {
        byte magic = (byte) (oneIn(3) ? random.nextInt(2) : 2);
        byte[] b = batch(magic, oneIn(20) ? 1 : 0);
        if (oneIn(3)) {
            b = spoil(b);
        }
        if (oneIn(15)) {
            byte[] more = batch((byte) (oneIn(2) ? magic : random.nextInt(3)), 0);
            b = ByteBuffer.allocate(b.length + more.length).put(b).put(more).array();
        }
        if (oneIn(20)) {
            b = java.util.Arrays.copyOf(b, random.nextInt(b.length));
        }
        return b;
    }
}
