import t from 'tap'
import { type Reader, readFirstBytes } from '../src/edge/first-bytes.ts'
import { readHello } from '../src/edge/hello-bytes.ts'
import { proxyHeaderReader } from '../src/edge/proxy-header.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { securedOver } from './tls-client.ts'
import { dial, get, OK, readStatus, readUntil } from './wire.ts'

/** The message of a hello whose body has `size` bytes: many ciphers, or many extensions. */
function makeHello(size: number, filled: 'ciphers' | 'extensions' = 'ciphers'): Buffer {
  const left = size - 2 - 32 - 1 - 2 - 2 - 2
  const [ciphers, extensions] = filled === 'ciphers' ? [left & ~1, 0] : [2, (left - 2) & ~3]
  const body = [
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    Buffer.from([0]),
    length(ciphers),
    numbers(ciphers),
    Buffer.from([1, 0]),
    length(extensions),
    numbers(extensions, 2),
  ]
  const message = Buffer.concat([Buffer.alloc(4), ...body])
  message.writeUInt32BE(message.length - 4)
  message[0] = 1
  return message
}

function length(bytes: number): Buffer {
  return Buffer.from([bytes >> 8, bytes & 0xff])
}

/** Numbers of two bytes; with `step` 2 each is the type of an empty extension. */
function numbers(bytes: number, step = 1): Buffer {
  const all = Buffer.alloc(bytes)
  for (let at = 0; at + 1 < bytes; at += 2 * step) all.writeUInt16BE((at * 7) & 0xffff, at)
  return all
}

/** A message in records of these sizes, the last of them again and again. */
function inRecords(message: Buffer, ...sizes: readonly number[]): Buffer {
  const records: Buffer[] = []
  for (let at = 0, index = 0; at < message.length; index++) {
    const part = message.subarray(at, at + (sizes[Math.min(index, sizes.length - 1)] as number))
    records.push(Buffer.from([0x16, 3, 1]), length(part.length), part)
    at += part.length
  }
  return Buffer.concat(records)
}

function inPieces(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

/** Returns what a reader makes of bytes that come in these pieces; `undefined` where they are not enough. */
function readAll<T>(reader: Reader<T>, pieces: readonly Buffer[]): T | undefined {
  const push = readFirstBytes(reader)
  for (const piece of pieces) {
    const read = push(piece)
    if (read !== undefined) return read.value
  }
  return undefined
}

function readIn<T>(reader: Reader<T>, bytes: Buffer, size: number): T | undefined {
  return readAll(reader, inPieces(bytes, size))
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
    [
      'an empty one',
      Buffer.concat([inRecords(message.subarray(0, 500), 500), empty, inRecords(message.subarray(500), 600)]),
    ],
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

t.test('the listener refuses a hello in records of one byte, and serves others', { skip: NO_OPENSSL }, async (t) => {
  const refused: string[] = []
  const certificates = [makeCertificate(certificateFolder(t), ['site.example'])]
  const { url } = await proxyBefore(t, OK, { tls: { certificates }, onRefused: (cause) => void refused.push(cause) })
  const hostile = await dial(url)
  hostile.write(inRecords(makeHello(16_000), 1))
  await readUntil(hostile)
  t.same(refused, ['client_hello'])
  const client = await securedOver(await dial(url))
  client.write(get('/'))
  t.equal(readStatus(await readUntil(client)), 200)
})
