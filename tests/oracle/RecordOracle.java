import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.SimpleRecord;

/** Batches, validation, down-conversion and producer state: what Kafka's classes do beside what ours do. */
public final class RecordOracle {
    private final OurSide ours;
    private final Random random;
    private final RecordMaker maker;
    private int passed;
    private int failed;

    private RecordOracle(OurSide ours, long seed) {
        this.ours = ours;
        this.random = new Random(seed);
        this.maker = new RecordMaker(random);
    }

    public static void main(String[] args) throws Exception {
        try (OurSide ours = new OurSide(args[0])) {
            RecordOracle oracle = new RecordOracle(ours, Long.parseLong(args[1]));
            int rounds = Integer.parseInt(args[2]) * 50;
            oracle.run("validation", rounds, oracle::validate);
            oracle.run("down-conversion", rounds / 4, oracle::downConvert);
            oracle.run("producer state", rounds / 20, oracle::producers);
            System.out.println(oracle.passed + " passed, " + oracle.failed + " failed, 0 skipped");
            System.exit(oracle.failed == 0 ? 0 : 1);
        }
    }

    interface Round {
        /** Null, or what differs. */
        String play() throws Exception;
    }

    private void run(String what, int rounds, Round round) throws Exception {
        for (int i = 0; i < rounds; i++) {
            String wrong = round.play();
            if (wrong != null) {
                System.out.println(what + ", round " + i + ": " + wrong);
                failed++;
                return;
            }
        }
        System.out.println(what + ": " + rounds + " rounds alike");
        passed++;
    }

    // ---- validation ----

    private KafkaLeader leader() {
        KafkaLeader leader = new KafkaLeader();
        leader.compression = maker.oneIn(2) ? -1 : random.nextInt(5);
        leader.compacted = maker.oneIn(5);
        leader.appendTime = maker.oneIn(4);
        if (maker.oneIn(3)) {
            leader.before = 1900;
            leader.after = 1900;
        }
        if (maker.oneIn(8)) {
            leader.maxMessageBytes = 100 + random.nextInt(200);
        }
        leader.coordinator = maker.oneIn(6);
        leader.allowsZstd = !maker.oneIn(5);
        leader.format = (byte) (maker.oneIn(2) ? 2 : random.nextInt(2));
        return leader;
    }

    private String validate() throws Exception {
        KafkaLeader leader = leader();
        byte[] in = maker.produced();
        long firstOffset = random.nextInt(100000);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(leader.compression);
        out.writeByte(leader.compacted ? 1 : 0);
        out.writeByte(leader.appendTime ? 1 : 0);
        out.writeLong(leader.before);
        out.writeLong(leader.after);
        out.writeInt(leader.maxMessageBytes);
        out.writeByte(leader.format);
        out.writeByte(leader.allowsZstd ? 1 : 0);
        out.writeByte(leader.coordinator ? 1 : 0);
        out.writeLong(RecordMaker.NOW);
        out.writeLong(firstOffset);
        out.writeInt(9);
        out.write(in);
        OurSide.Answer answer = ours.ask('V', "", (short) 0, bytes.toByteArray());
        byte[] copy = in.clone();
        leader.append(in, firstOffset, 9);
        String wrong = compare(leader, answer, copy);
        return wrong == null ? null : wrong + "\n  settings zstd " + leader.allowsZstd + " format " + leader.format + " codec " + leader.compression + " compacted " + leader.compacted
            + " append time " + leader.appendTime + " limits " + leader.before + " max " + leader.maxMessageBytes
            + " coordinator " + leader.coordinator + "\n  records " + HexFormat.of().formatHex(copy)
            + "\n  Kafka " + leader.code + " [" + leader.text + "] " + leader.failure + "\n  ours " + answer.status + " ["
            + answer.text + "]";
    }

    private String compare(KafkaLeader leader, OurSide.Answer answer, byte[] in) {
        if (leader.coordinator && leader.format < 2 && in.length > 22 && in[16] == 2 && (in[22] & 32) != 0) {
            return null; /* a marker of no producer: no coordinator sends that */
        }
        if (leader.code != answer.status) {
            return isKnown(leader, answer, in) ? null : "other codes";
        }
        if (!leader.text.equals(answer.text)) {
            boolean old = in.length > 16 && in[16] < 2;
            return leader.code != 0 && (old || !canBeRead(in)) ? null : "other details";
        }
        if (leader.code != 0 || Arrays.equals(leader.bytes, answer.bytes)) {
            return null;
        }
        return sameContent(leader.bytes, answer.bytes);
    }

    /**
     * Where we may answer otherwise: Kafka does not look at everything in records that stay compressed; how much of a damaged payload is
     * looked at before the damage is a matter of buffer sizes; zlib insists on the reserved bits of a gzip header; and Kafka stumbles over
     * some lengths with errors that are not meant for clients.
     */
    private static boolean isKnown(KafkaLeader leader, OurSide.Answer answer, byte[] in) {
        if (leader.failure instanceof UnsupportedOperationException || leader.failure instanceof OutOfMemoryError) {
            return true; /* it skipped the keys that it needs to rebuild a batch with gaps; it believed a length */
        }
        if (leader.code == -1 && in.length > 22 && in[16] == 2 && (in[22] & 7) == 4) {
            return true; /* a damaged zstd frame: the libraries are of different versions */
        }
        String failure = String.valueOf(leader.failure);
        if (failure.contains("Invalid negative timestamp") || failure.contains("does not support record headers")) {
            return answer.status != 0; /* found while it builds, before a later record is looked at */
        }
        if (failure.contains("Transactional records are not supported for magic")) {
            return answer.status != 0; /* UNSUPPORTED_FOR_MESSAGE_FORMAT, as Kafka's own where something is compressed */
        }
        if (leader.coordinator && leader.format < 2 && leader.code == Errors.MESSAGE_TOO_LARGE.code()) {
            return true; /* Kafka's coordinators write old messages, each of a size of its own; ours are looked at once they are old */
        }
        int code = answer.status;
        if (code == Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT.code() && !canBeRead(in)) {
            return leader.code != 0; /* of several things that are wrong, Kafka sometimes looks at the records first */
        }
        if (leader.compression > 0 && leader.code + code == Errors.MESSAGE_TOO_LARGE.code()) {
            return true; /* compressed anew it just fits, or just does not */
        }
        if (code != -1 && code != Errors.INVALID_RECORD.code() && code != Errors.CORRUPT_MESSAGE.code()) {
            return false;
        }
        boolean old = in.length > 16 && in[16] < 2;
        boolean gzip = in.length > 22 && (in[old ? 17 : 22] & 7) == 1;
        return !canBeRead(in) || mixesMagics(in) || gzip && code == -1
            || leader.coordinator && leader.code <= 0 /* a count of 0 over records: no coordinator sends that */
            || leader.code == -1 && (old || leader.failure instanceof IndexOutOfBoundsException);
    }

    private static boolean canBeRead(byte[] bytes) {
        try {
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
                for (Record record : batch) {
                    record.headers();
                    record.key();
                    record.value();
                }
            }
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** A wrapper of old messages of another version: both refuse it, Kafka message by message. */
    private static boolean mixesMagics(byte[] bytes) {
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            for (Record record : batch) {
                if (!record.hasMagic(batch.magic())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Null where both hold the same batches but for how they are compressed. */
    private static String sameContent(byte[] a, byte[] b) {
        String theirs = describe(a);
        String ours = describe(b);
        return theirs.equals(ours) ? null : "other records:\n  Kafka " + theirs + "\n  ours  " + ours;
    }

    private static String describe(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            batch.ensureValid();
            text.append("\n[").append(batch.magic()).append(' ').append(batch.baseOffset()).append('-').append(batch.lastOffset())
                .append(' ').append(batch.compressionType()).append(' ').append(batch.timestampType()).append(' ')
                .append(batch.maxTimestamp()).append(' ').append(batch.producerId()).append(' ').append(batch.producerEpoch())
                .append(' ').append(batch.baseSequence()).append(' ').append(batch.isTransactional()).append(' ')
                .append(batch.partitionLeaderEpoch()).append("] ");
            for (Record record : batch) {
                text.append(record.offset()).append(' ').append(record.timestamp()).append(' ').append(hex(record.key()))
                    .append(' ').append(hex(record.value())).append(' ').append(Arrays.toString(record.headers())).append("; ");
            }
        }
        return text.toString();
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return "null";
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    // ---- down-conversion ----

    private byte[] stored() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long offset = random.nextInt(50);
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            byte[] batch = maker.oneIn(6) ? marker(offset, 5, (short) 0, 0, true) : maker.batch((byte) (maker.oneIn(5) ? 1 : 2), offset);
            out.writeBytes(batch);
            offset += 20;
        }
        return out.toByteArray();
    }

    private String downConvert() throws Exception {
        byte[] set = stored();
        byte magic = (byte) random.nextInt(2);
        long firstOffset = random.nextInt(60);
        byte[] question = ByteBuffer.allocate(9 + set.length).put(magic).putLong(firstOffset).put(set).array();
        OurSide.Answer answer = ours.ask('D', "", (short) 0, question);
        int code = 0;
        byte[] bytes = new byte[0];
        try {
            ByteBuffer out = MemoryRecords.readableRecords(ByteBuffer.wrap(set)).downConvert(magic, firstOffset, KafkaLeader.TIME)
                .records().buffer();
            bytes = new byte[out.remaining()];
            out.get(bytes);
        } catch (RuntimeException e) {
            code = Errors.forException(e).code();
        }
        String wrong = code != answer.status ? "Kafka " + code + " ours " + answer.status
            : code != 0 || Arrays.equals(bytes, answer.bytes) ? null : sameContent(bytes, answer.bytes);
        return wrong == null ? null : wrong + "\n  to magic " + magic + " from " + firstOffset + " set " + HexFormat.of().formatHex(set);
    }

    // ---- producer state ----

    private static byte[] marker(long offset, long producerId, short epoch, int coordinatorEpoch, boolean commit) {
        MemoryRecords records = MemoryRecords.withEndTransactionMarker(offset, RecordMaker.NOW, 0, producerId, epoch,
            new EndTransactionMarker(commit ? ControlRecordType.COMMIT : ControlRecordType.ABORT, coordinatorEpoch));
        byte[] bytes = new byte[records.sizeInBytes()];
        records.buffer().get(bytes);
        return bytes;
    }

    private byte[] data(long offset, long producerId, short epoch, int sequence, boolean transactional) {
        SimpleRecord[] records = new SimpleRecord[1 + random.nextInt(3)];
        for (int i = 0; i < records.length; i++) {
            records[i] = new SimpleRecord(RecordMaker.NOW + random.nextInt(1000), null, new byte[1]);
        }
        MemoryRecords batch = transactional
            ? MemoryRecords.withTransactionalRecords((byte) 2, offset, Compression.NONE, producerId, epoch, sequence, 0, records)
            : MemoryRecords.withIdempotentRecords((byte) 2, offset, Compression.NONE, producerId, epoch, sequence, 0, records);
        byte[] bytes = new byte[batch.sizeInBytes()];
        batch.buffer().get(bytes);
        return bytes;
    }

    /** A random life of three producers, who keep to the rules most of the time. */
    private String producers() throws Exception {
        KafkaProducers kafka = new KafkaProducers(Files.createTempDirectory("oracle").toFile());
        ByteArrayOutputStream steps = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(steps);
        long offset = 100;
        int[] next = new int[3];
        int[] epoch = new int[3];
        byte[] last = null;
        for (int step = 0; step < 60; step++) {
            int p = random.nextInt(3);
            if (maker.oneIn(10)) {
                epoch[p] += random.nextInt(3) - (maker.oneIn(4) ? 1 : 0);
                epoch[p] = Math.max(epoch[p], 0);
                next[p] = 0;
            }
            int origin = maker.oneIn(6) ? 2 : 0;
            byte[] bytes;
            int kind = random.nextInt(20);
            if (kind < 12) {
                int sequence = maker.oneIn(15) ? random.nextInt(5) : maker.oneIn(40) ? Integer.MAX_VALUE - 1 : next[p];
                /* Kafka's follower gives up on a plain batch inside of a transaction; ours goes on. */
                boolean transactional = origin == 2 && kafka.hasOpenTransaction(p) || maker.oneIn(2);
                bytes = data(offset, p, (short) epoch[p], sequence, transactional);
            } else if (kind < 15) {
                origin = maker.oneIn(3) ? 2 : 1;
                bytes = marker(offset, p, (short) epoch[p], random.nextInt(3), maker.oneIn(2));
            } else if (kind == 15 && last != null) {
                bytes = last.clone();
                ByteBuffer.wrap(bytes).putLong(0, offset);
                origin = 0;
            } else {
                other(kind, offset, kafka, out);
                continue;
            }
            out.writeByte('a');
            out.writeByte(origin);
            out.writeInt(bytes.length);
            out.write(bytes);
            if (kafka.append(origin, bytes)) {
                MutableRecordBatch batch = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches().iterator().next();
                offset = batch.lastOffset() + 1;
                if (!batch.isControlBatch()) {
                    int lastSequence = batch.lastSequence();
                    next[(int) batch.producerId()] = lastSequence == Integer.MAX_VALUE ? 0 : lastSequence + 1;
                    last = bytes;
                }
            }
        }
        out.writeByte('t');
        kafka.tellAll();
        OurSide.Answer answer = ours.ask('P', "", (short) 0, steps.toByteArray());
        return firstDifference(kafka.text.toString(), answer.text);
    }

    private void other(int kind, long offset, KafkaProducers kafka, DataOutputStream out) throws IOException {
        long watermark = offset - random.nextInt(10);
        if (kind == 19) {
            long now = RecordMaker.NOW + (maker.oneIn(5) ? 86400000 + random.nextInt(1000) : 0);
            out.writeByte('x');
            out.writeLong(now);
            kafka.expire(now);
        } else if (kind == 18) {
            out.writeByte('t');
            kafka.tellAll();
        } else {
            out.writeByte('w');
            out.writeLong(watermark);
            kafka.highWatermark(watermark);
        }
    }

    private static String firstDifference(String theirs, String ours) {
        String[] a = theirs.split("\n");
        String[] b = ours.split("\n");
        for (int i = 0; i < Math.min(a.length, b.length); i++) {
            if (!a[i].equals(b[i])) {
                return "step " + i + "\n  before " + (i > 0 ? a[i - 1] : "") + "\n  Kafka " + a[i] + "\n  ours  " + b[i];
            }
        }
        return a.length == b.length ? null : "other numbers of steps";
    }
}
