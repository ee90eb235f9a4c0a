import t from 'tap'
import { type Reader, readFirstBytes } from '../src/edge/first-bytes.ts'
import { readHello } from '../src/edge/hello-bytes.ts'
import { proxyHeaderReader } from '../src/edge/proxy-header.ts'
import { inRecords } from './tls-client.ts'

/** Makes the message of a hello whose body has so many bytes, most of them ciphers. */
function makeHello(size: number): Buffer {
  const ciphers = (size - 41) & ~1
  const body = Buffer.alloc(size)
  body.set([3, 3])
  body.writeUInt16BE(ciphers, 35)
  for (let at = 0; at < ciphers; at += 2) body.writeUInt16BE((at * 7) & 0xffff, 37 + at)
  body[37 + ciphers] = 1
  const message = Buffer.concat([Buffer.alloc(4), body.subarray(0, 41 + ciphers)])
  message.writeUInt32BE(message.length - 4)
  message[0] = 1
  return message
}

/** Returns what a reader makes of bytes that come in pieces of a size; `undefined` where they are not enough. */
function readIn<T>(reader: Reader<T>, bytes: Buffer, size: number): T | undefined {
  const push = readFirstBytes(reader)
  for (let at = 0; at < bytes.length; at += size) {
    const read = push(bytes.subarray(at, at + size))
    if (read !== undefined) return read.value
  }
  return undefined
}

const empty = Buffer.from([0x16, 3, 1, 0, 0])

t.test('records of a hello have 16 bytes at least, but for the last, and are 64 at most', async (t) => {
  const [message, longer] = [makeHello(1_019), makeHello(1_021)]
  t.equal(message.length, 63 * 16 + 15)
  t.equal(longer.length, 64 * 16 + 1)
  const read = (bytes: Buffer): Uint8Array | undefined => readIn(readHello, bytes, bytes.length)
  for (const [name, bytes] of [
    ['64 records', inRecords(message, 16)],
    ['a last one of one byte', inRecords(message, message.length - 1)],
    ['more in the last one than the hello', inRecords(Buffer.concat([message, Buffer.alloc(9)]), 200, 9_000)],
  ] as const) {
    for (const size of [1, 3, bytes.length]) t.same(readIn(readHello, bytes, size), message, `${name}, by ${size}`)
  }
  for (const [name, bytes] of [
    ['a first one of 15', inRecords(message, 15, 1_000)],
    ['a second one of 15', inRecords(message, 500, 15, 1_000)],
    ['an empty one', Buffer.concat([inRecords(message.subarray(0, 500), 500), empty, inRecords(message, 600)])],
    ['65 records', inRecords(longer, 16)],
  ] as const) {
    t.throws(() => read(bytes), name)
  }
  t.throws(() => readIn(readHello, inRecords(message, 15, 1_000).subarray(0, 9), 1), 'as soon as its head has come')
})

t.test('a fault is refused at its byte', async (t) => {
  for (const [bytes, at] of [
    [[0x15], 1],
    [[0x16, 2], 2],
    [[0x16, 3, 1, 0, 100, 2], 6],
  ] as const) {
    t.equal(readIn(readHello, Buffer.from(bytes.slice(0, at - 1)), 1), undefined)
    t.throws(() => readIn(readHello, Buffer.from(bytes), 1))
  }
  t.throws(() => readIn(proxyHeaderReader('v1'), Buffer.from('PROXZ'), 1))
  t.throws(() => readIn(proxyHeaderReader('v2'), Buffer.from('\r\n\r\n\0\r\nQUIX'), 1))
})
