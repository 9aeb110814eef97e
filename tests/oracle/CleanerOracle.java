import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import kafka.log.Cleaner;
import kafka.log.LogToClean;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.utils.Throttler;
import scala.Option;
import scala.Tuple2;
import scala.runtime.BoxedUnit;

/** Random logs, cleaned by Kafka's Cleaner and by ours: the same segments, batches, records and aborted transactions must be left. */
public final class CleanerOracle {
    private static final int SEGMENT_BYTES = 3000;
    private static final int RETENTION_MS = 1000;
    private static final long START = 1_700_000_000_000L;

    private final OurSide ours;
    private final Random random;
    private long now;
    private final int[] sequence = new int[4];
    private final boolean[] open = new boolean[4];

    private CleanerOracle(OurSide ours, long seed) {
        this.ours = ours;
        this.random = new Random(seed);
    }

    public static void main(String[] args) throws Exception {
        long seed = Long.parseLong(args[1]);
        int rounds = Integer.parseInt(args[2]);
        int failed = 0;
        try (OurSide ours = new OurSide(args[0])) {
            for (int i = 0; i < rounds && failed == 0; i++) {
                String wrong = new CleanerOracle(ours, seed * 1000003 + i).play();
                if (wrong != null) {
                    System.out.println("cleaning, round " + i + ": " + wrong);
                    failed++;
                }
            }
        }
        System.out.println(failed == 0 ? "cleaning: " + rounds + " rounds alike" : "cleaning differs");
        System.out.println((failed == 0 ? 1 : 0) + " passed, " + failed + " failed, 0 skipped");
        System.exit(failed);
    }

    private final Time time = new Time() {
        public long milliseconds() { return now; }
        public long nanoseconds() { return now * 1000000; }
        public void sleep(long ms) { }
        public void waitObject(Object o, Supplier<Boolean> done, long deadline) { }
    };

    /** Files stay under their .deleted names. */
    private static final Scheduler NEVER = new Scheduler() {
        public void startup() { }
        public void shutdown() { }
        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) { return null; }
        public void resizeThreadPool(int size) { }
    };

    // ---- the log ----

    private UnifiedLog open(File dir) {
        Properties settings = new Properties();
        settings.put("cleanup.policy", "compact");
        settings.put("segment.bytes", SEGMENT_BYTES);
        settings.put("index.interval.bytes", 500);
        settings.put("delete.retention.ms", RETENTION_MS);
        return UnifiedLog.apply(dir, new LogConfig(settings), 0, 0, NEVER, new BrokerTopicStats(false), time, 900000,
            new ProducerStateManagerConfig(Integer.MAX_VALUE, false), 600000, new LogDirFailureChannel(1), true, Option.empty(), false,
            new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    private void append(UnifiedLog log, MemoryRecords records) {
        log.appendAsFollower(records, 1);
        log.updateHighWatermark(log.logEndOffset());
    }

    private MemoryRecords data(long offset, int producer, boolean transactional, byte magic) {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        CompressionType[] types = CompressionType.values();
        CompressionType type = types[random.nextInt(magic < 2 ? 4 : 5)];
        TimestampType stamps = magic > 0 && oneIn(4) ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(buffer, magic, Compression.of(type).build(), stamps, offset, now,
            producer < 0 ? -1 : 100 + producer, (short) (producer < 0 ? -1 : 0), producer < 0 ? -1 : sequence[producer], transactional,
            false, 1, buffer.capacity());
        int count = magic < 2 && type == CompressionType.NONE ? 1 : 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            byte[] key = oneIn(30) ? null : ("key " + random.nextInt(40)).getBytes();
            byte[] value = oneIn(6) ? null : ("value " + random.nextInt(1000) + " ".repeat(random.nextInt(40))).getBytes();
            builder.append(magic == 0 ? -1 : now + random.nextInt(50), key, value);
        }
        if (producer >= 0) {
            sequence[producer] += count;
        }
        return builder.build();
    }

    private void end(UnifiedLog log, int producer) {
        append(log, MemoryRecords.withEndTransactionMarker(log.logEndOffset(), now, 1, 100 + producer, (short) 0,
            new EndTransactionMarker(oneIn(2) ? ControlRecordType.COMMIT : ControlRecordType.ABORT, 0)));
        open[producer] = false;
    }

    private void fill(UnifiedLog log, int batches, boolean old) {
        for (int i = 0; i < batches; i++) {
            now += random.nextInt(5);
            int producer = random.nextInt(4);
            if (producer < 2 && open[producer] && oneIn(3)) {
                end(log, producer);
            } else if (oneIn(3)) {
                append(log, data(log.logEndOffset(), -1, false, (byte) (old && oneIn(2) ? random.nextInt(2) : 2)));
            } else {
                append(log, data(log.logEndOffset(), producer, producer < 2, (byte) 2));
                open[producer] |= producer < 2;
            }
        }
        for (int producer = 0; producer < 2; producer++) {
            if (open[producer]) {
                end(log, producer);
            }
        }
    }

    // ---- cleaning ----

    private long cleanByKafka(UnifiedLog log, long firstDirty, long upper, int memory) throws Exception {
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(memory), 1 << 16, 1 << 20, 0.9,
            new Throttler(Double.MAX_VALUE, 300, "oracle", "bytes", time), time, tp -> BoxedUnit.UNIT);
        LogToClean what = new LogToClean(new TopicPartition("t", 0), log, firstDirty, upper, false);
        Tuple2<Object, ?> done = cleaner.doClean(what, now);
        return (Long) done._1();
    }

    private long cleanByUs(Path dir, long firstDirty, long upper, int memory) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(now);
        out.writeInt(SEGMENT_BYTES);
        out.writeLong(RETENTION_MS);
        out.writeInt(memory);
        out.writeLong(firstDirty);
        out.writeLong(upper);
        byte[] path = dir.toString().getBytes();
        out.writeShort(path.length);
        out.write(path);
        OurSide.Answer answer = ours.ask('C', "", (short) 0, bytes.toByteArray());
        if (answer.status != 0) {
            throw new IOException("ours: " + answer.status);
        }
        return Long.parseLong(answer.text);
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        for (File f : from.toFile().listFiles()) {
            Files.copy(f.toPath(), to.resolve(f.getName()), StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    private String play() throws Exception {
        now = START;
        Path root = Files.createTempDirectory("oracle");
        Path kafkas = Files.createDirectories(root.resolve("kafka/t-0"));
        Path our = root.resolve("ours/t-0");
        UnifiedLog log = open(kafkas.toFile());
        fill(log, 100 + random.nextInt(200), oneIn(3));
        copy(kafkas, our);
        int memory = oneIn(2) ? 1 << 20 : 24 * (2 + random.nextInt(60));
        long firstDirty = 0;
        String wrong = null;
        for (int pass = 0; pass < 5 && wrong == null && Arrays.equals(segments(kafkas), segments(our)); pass++) {
            long upper = chooseUpper(log, firstDirty);
            if (upper <= firstDirty) {
                break;
            }
            long theirs = cleanByKafka(log, firstDirty, upper, memory);
            long mine = cleanByUs(our, firstDirty, upper, memory);
            wrong = theirs == mine ? compare(kafkas, our) : "Kafka cleaned to " + theirs + ", we to " + mine;
            if (wrong != null) {
                wrong += "\n  pass " + pass + " from " + firstDirty + " to " + upper + " memory " + memory + " in " + root;
            }
            firstDirty = segmentOf(log, theirs);
            now += random.nextInt(1500);
        }
        log.closeHandlers();
        if (wrong == null) {
            remove(root.toFile());
        }
        return wrong;
    }

    /** The base of a segment at or behind the dirty offset, of the active one at last. */
    private long chooseUpper(UnifiedLog log, long firstDirty) {
        long[] bases = log.logSegments().stream().mapToLong(s -> s.baseOffset()).filter(b -> b > firstDirty).toArray();
        return bases.length == 0 ? firstDirty : bases[oneIn(3) ? bases.length - 1 : random.nextInt(bases.length)];
    }

    /**
     * Where the next pass begins: at a segment. Inside of one Kafka may begin to read behind the marker of an aborted transaction that it
     * knows of, and takes what the producer sent next for aborted too: its keys are not seen, so that older records of them stay.
     */
    private static long segmentOf(UnifiedLog log, long offset) {
        return log.logSegments().stream().mapToLong(s -> s.baseOffset()).filter(b -> b <= offset).max().orElse(0);
    }

    private static void remove(File f) {
        File[] children = f.listFiles();
        if (children != null) {
            Arrays.stream(children).forEach(CleanerOracle::remove);
        }
        f.delete();
    }

    // ---- comparison ----

    /**
     * Compressed anew, batches may differ in size from library to library, and then now and then one side fits two segments into one where
     * the other does not. From there on their passes are not the same.
     */
    private static String[] segments(Path dir) {
        String[] names = dir.toFile().list((d, name) -> name.endsWith(".log"));
        Arrays.sort(names);
        return names;
    }

    private static String compare(Path kafkas, Path our) throws IOException {
        String theirs = describe(kafkas);
        String mine = describe(our);
        if (theirs.equals(mine)) {
            return null;
        }
        String[] a = theirs.split("\n");
        String[] b = mine.split("\n");
        for (int i = 0; i < Math.min(a.length, b.length); i++) {
            if (!a[i].equals(b[i])) {
                return "other contents:\n  Kafka " + a[i] + "\n  ours  " + b[i];
            }
        }
        return "Kafka has " + a.length + " lines, we have " + b.length;
    }

    private static String describe(Path dir) throws IOException {
        StringBuilder text = new StringBuilder();
        StringBuilder aborted = new StringBuilder("aborted ");
        File[] files = dir.toFile().listFiles((d, name) -> name.endsWith(".log") || name.endsWith(".txnindex"));
        Arrays.sort(files);
        for (File f : files) {
            byte[] bytes = Files.readAllBytes(f.toPath());
            if (f.getName().endsWith(".log")) {
                describe(bytes, text);
            } else if (bytes.length > 0) {
                aborted.append(HexFormat.of().formatHex(bytes));
            }
        }
        return text.append(aborted).toString();
    }

    private static void describe(byte[] bytes, StringBuilder text) {
        for (MutableRecordBatch b : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            b.ensureValid();
            text.append(b.magic()).append(" [").append(b.magic() < RecordBatch.MAGIC_VALUE_V2 ? b.lastOffset() : b.baseOffset()).append('-')
                .append(b.lastOffset()).append("] ").append(b.compressionType()).append(' ').append(b.timestampType()).append(' ')
                .append(b.maxTimestamp()).append(' ').append(b.producerId()).append(' ').append(b.producerEpoch()).append(' ')
                .append(b.baseSequence()).append(' ').append(b.isTransactional()).append(' ').append(b.isControlBatch()).append(' ')
                .append(b.partitionLeaderEpoch()).append(' ').append(b.deleteHorizonMs()).append(": ");
            for (Record r : b) {
                text.append(r.offset()).append(' ').append(r.timestamp()).append(' ').append(string(r.key())).append('=')
                    .append(string(r.value())).append("; ");
            }
            text.append('\n');
        }
    }

    private static String string(ByteBuffer buffer) {
        if (buffer == null) {
            return "null";
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
