import java.nio.ByteBuffer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.PrimitiveRef;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;
import org.apache.kafka.storage.internals.log.RecordValidationException;

/** A leader of Kafka as far as UnifiedLog's append goes before the file: what it makes of a client's records. */
final class KafkaLeader {
    int compression = -1;
    boolean compacted;
    boolean appendTime;
    long before = Long.MAX_VALUE;
    long after = Long.MAX_VALUE;
    int maxMessageBytes = 1 << 20;
    boolean coordinator;
    byte format = 2;
    boolean allowsZstd = true;

    int code;
    String text;
    byte[] bytes;
    Throwable failure;

    static final Time TIME = new Time() {
        public long milliseconds() { return RecordMaker.NOW; }
        public long nanoseconds() { return 0; }
        public void sleep(long ms) { }
        public void waitObject(Object o, Supplier<Boolean> done, long deadline) { }
    };

    private static final LogValidator.MetricsRecorder NO_METRICS = new LogValidator.MetricsRecorder() {
        public void recordInvalidMagic() { }
        public void recordInvalidOffset() { }
        public void recordInvalidSequence() { }
        public void recordInvalidChecksums() { }
        public void recordNoKeyCompactedTopic() { }
    };

    void append(byte[] in, long firstOffset, int leaderEpoch) {
        code = 0;
        text = "";
        bytes = new byte[0];
        failure = null;
        try {
            append(MemoryRecords.readableRecords(ByteBuffer.wrap(in)), firstOffset, leaderEpoch);
        } catch (RecordValidationException e) {
            code = Errors.forException(e.invalidException()).code();
            text = e.recordErrors().stream().map(r -> r.batchIndex + ",").collect(Collectors.joining());
        } catch (Throwable e) {
            failure = e;
            code = Errors.forException(e).code();
        }
    }

    private CompressionType analyse(MemoryRecords records, int[] validBytes) {
        CompressionType source = CompressionType.NONE;
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.magic() >= RecordBatch.MAGIC_VALUE_V2 && !coordinator && batch.baseOffset() != 0) {
                throw new InvalidRecordException("base offset");
            }
            if (batch.sizeInBytes() > maxMessageBytes) {
                throw new RecordTooLargeException();
            }
            if (!batch.isValid()) {
                throw new CorruptRecordException();
            }
            validBytes[0] += batch.sizeInBytes();
            CompressionType type = CompressionType.forId(batch.compressionType().id);
            if (type != CompressionType.NONE) {
                source = type;
            }
        }
        return source;
    }

    private void append(MemoryRecords records, long firstOffset, int leaderEpoch) {
        int[] validBytes = {0};
        CompressionType source = analyse(records, validBytes);
        if (validBytes[0] == 0) {
            text = "-1 -1";
            return;
        }
        ByteBuffer valid = records.buffer().duplicate();
        valid.limit(validBytes[0]);
        CompressionType target = compression < 0 ? source : CompressionType.forId(compression);
        PrimitiveRef.LongRef offset = PrimitiveRef.ofLong(firstOffset);
        LogValidator.ValidationResult result = new LogValidator(MemoryRecords.readableRecords(valid),
            new TopicPartition("t", 0), TIME, source, Compression.of(target).build(), compacted, format,
            appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME, before, after, leaderEpoch,
            coordinator ? AppendOrigin.COORDINATOR : AppendOrigin.CLIENT, allowsZstd ? MetadataVersion.IBP_3_9_IV0 : MetadataVersion.IBP_2_0_IV1)
            .validateMessagesAndAssignOffsets(offset, NO_METRICS, BufferSupplier.NO_CACHING);
        if (result.messageSizeMaybeChanged) {
            for (MutableRecordBatch batch : result.validatedRecords.batches()) {
                if (batch.sizeInBytes() > maxMessageBytes) {
                    throw new RecordTooLargeException();
                }
            }
        }
        ByteBuffer out = result.validatedRecords.buffer().duplicate();
        bytes = new byte[out.remaining()];
        out.get(bytes);
        /* Without timestamps in the log, Kafka's is of what came. */
        text = (offset.value - 1) + " " + (format == 0 ? -1 : result.maxTimestampMs);
    }
}
