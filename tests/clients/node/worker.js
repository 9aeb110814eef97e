// A worker on kafkajs; what it is told and what it says: ../README.md
const readline = require('readline')
const { Kafka, logLevel, CompressionTypes } = require('kafkajs')

const [bootstrap, topic, groupId, name, ...options] = process.argv.slice(2)
const compression = options.includes('compression=gzip') ? CompressionTypes.GZIP : CompressionTypes.None
const kafka = new Kafka({
  brokers: bootstrap.split(','), logLevel: logLevel.WARN, requestTimeout: 10000,
  retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 1000 },
  logCreator: () => ({ log }) => console.error(JSON.stringify(log)),
})
let over = false

async function send() {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, metadataMaxAge: 5000 })
  await producer.connect()
  for (let seq = 0; !over; ) {
    // One partition a time: where a leader changes to a broker that has already answered for other partitions,
    // kafkajs takes that answer for the moved partition's, too, and never sends its records.
    const partition = (seq / 5) % 3
    const messages = []
    for (let i = 0; i < 5; i++, seq++) messages.push({ partition, value: `${name}:${seq}` })
    await producer.send({ topic, acks: -1, compression, messages })
    console.log(messages.map((m) => `acked ${m.value}`).join('\n'))
    await new Promise((done) => setTimeout(done, 50))
  }
  await producer.disconnect()
  console.log('sent')
}

async function consume() {
  const consumer = kafka.consumer({
    groupId, sessionTimeout: 15000, rebalanceTimeout: 20000, heartbeatInterval: 1000, metadataMaxAge: 5000,
    maxWaitTimeInMs: 200,
  })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachBatch: async ({ batch, resolveOffset, commitOffsetsIfNecessary, heartbeat }) => {
      console.log(`processed ${batch.messages.map((m) => m.value).join(' ')}`)
      resolveOffset(batch.messages[batch.messages.length - 1].offset)
      await commitOffsetsIfNecessary()
      await heartbeat()
    },
  })
  return consumer
}

async function main() {
  const sends = send()
  const consumer = await consume()
  const told = readline.createInterface({ input: process.stdin })
  told.on('line', () => { over = true })
  told.on('close', async () => {
    await sends
    await consumer.disconnect()
    process.exit(0)
  })
  await sends
}

main().catch((e) => {
  console.error(e)
  process.exit(1)
})
