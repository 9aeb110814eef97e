import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.CompletedTxn;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/** Kafka's producer state, used as UnifiedLog uses it, telling what it does in the words of record_oracle.c. */
final class KafkaProducers {
    private static final AppendOrigin[] ORIGINS = {AppendOrigin.CLIENT, AppendOrigin.COORDINATOR, AppendOrigin.REPLICATION};
    private final ProducerStateManager state;
    final StringBuilder text = new StringBuilder();
    private boolean appended;

    KafkaProducers(File dir) throws IOException {
        state = new ProducerStateManager(new TopicPartition("t", 0), dir, Integer.MAX_VALUE,
            new ProducerStateManagerConfig(86400000, false), KafkaLeader.TIME);
    }

    /** True where the batches are in the log now. */
    boolean append(int origin, byte[] bytes) {
        appended = false;
        try {
            append(ORIGINS[origin], MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)));
        } catch (RuntimeException e) {
            text.append("append ").append(Errors.forException(e).code());
        }
        end();
        return appended;
    }

    private void append(AppendOrigin origin, MemoryRecords records) {
        Map<Long, ProducerAppendInfo> updated = new LinkedHashMap<>();
        List<CompletedTxn> completed = new ArrayList<>();
        for (MutableRecordBatch batch : records.batches()) {
            if (!batch.hasProducerId()) {
                continue;
            }
            if (origin == AppendOrigin.CLIENT) {
                Optional<BatchMetadata> duplicate =
                    state.lastEntry(batch.producerId()).flatMap(e -> e.findDuplicateBatch(batch));
                if (duplicate.isPresent()) {
                    BatchMetadata d = duplicate.get();
                    text.append("append 0 duplicate ").append(d.firstOffset()).append(' ').append(d.lastOffset)
                        .append(' ').append(d.timestamp);
                    return;
                }
            }
            Optional<LogOffsetMetadata> first = batch.isTransactional()
                ? Optional.of(new LogOffsetMetadata(batch.baseOffset(), 0, 0)) : Optional.empty();
            updated.computeIfAbsent(batch.producerId(), id -> state.prepareUpdate(id, origin))
                .append(batch, first).ifPresent(completed::add);
        }
        text.append("append 0");
        updated.values().forEach(state::update);
        for (CompletedTxn c : completed) {
            text.append(c.isAborted ? " abort(" : " commit(").append(c.producerId).append(' ').append(c.firstOffset)
                .append('-').append(c.lastOffset).append(" lso ").append(state.lastStableOffset(c)).append(')');
            state.completeTxn(c);
        }
        appended = true;
    }

    boolean hasOpenTransaction(long producerId) {
        return state.lastEntry(producerId).map(e -> e.currentTxnFirstOffset().isPresent()).orElse(false);
    }

    void highWatermark(long offset) {
        state.onHighWatermarkUpdated(offset);
        end();
    }

    void expire(long now) {
        state.removeExpiredProducers(now);
        end();
    }

    void tellAll() {
        for (ProducerStateEntry e : new TreeMap<>(state.activeProducers()).values()) {
            text.append('(').append(e.producerId()).append(' ').append(e.producerEpoch()).append(' ').append(e.firstSeq())
                .append(' ').append(e.lastSeq()).append(' ').append(e.lastDataOffset()).append(' ')
                .append(e.lastOffsetDelta()).append(' ').append(e.lastTimestamp()).append(' ').append(e.coordinatorEpoch())
                .append(' ').append(e.currentTxnFirstOffset().orElse(-1)).append(')');
        }
        end();
    }

    private void end() {
        text.append(" unstable ").append(state.firstUnstableOffset().map(o -> o.messageOffset).orElse(-1L))
            .append(" count ").append(state.activeProducers().size()).append('\n');
    }
}
