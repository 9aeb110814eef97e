// A member on kafkajs; what it is told and what it says: ../README.md
const { Kafka, logLevel, PartitionAssigners } = require('kafkajs')

const [bootstrap, topic, groupId] = process.argv.slice(2)
let generation = -1

// kafkajs tells the generation only in its log of answers.
const logCreator = () => ({ label, log }) => {
  const { message, data } = log
  if (message.startsWith('Response JoinGroup') && data && data.errorCode === 0) generation = data.generationId
  else if (label === 'ERROR' || label === 'WARN') console.error(label, message, log.error || '')
}

async function main() {
  const kafka = new Kafka({
    brokers: bootstrap.split(','), logLevel: logLevel.DEBUG, logCreator, requestTimeout: 10000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 1000 },
  })
  const consumer = kafka.consumer({
    groupId, sessionTimeout: 6000, rebalanceTimeout: 60000, heartbeatInterval: 1000, metadataMaxAge: 5000,
    maxWaitTimeInMs: 200, partitionAssigners: [PartitionAssigners.roundRobin],
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    const owned = (payload.memberAssignment[topic] || []).sort((a, b) => a - b).join(',')
    console.log(`own ${generation} ${owned || '-'}`)
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, isRunning, isStale, resolveOffset, heartbeat }) => {
      if (!isRunning() || isStale()) return
      const last = batch.messages[batch.messages.length - 1].offset
      console.log(`done ${batch.partition} ${batch.messages[0].offset} ${last} ${batch.messages.length}`)
      resolveOffset(last)
      const offset = (BigInt(last) + 1n).toString()
      await consumer.commitOffsets([{ topic, partition: batch.partition, offset }])
      console.log(`kept ${batch.partition} ${offset}`)
      await heartbeat()
    },
  })
  process.stdin.on('end', async () => {
    await consumer.disconnect()
    process.exit(0)
  })
  process.stdin.resume()
}

main().catch((e) => {
  console.error(e)
  process.exit(1)
})
