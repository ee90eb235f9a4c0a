import type { TLSSocket } from 'node:tls'
import { ja4Of } from '@sallyport/core'
import t from 'tap'
import { CollectedBytes, FirstBytes, type Reader } from '../src/edge/first-bytes.ts'
import { readHello } from '../src/edge/hello-bytes.ts'
import { proxyHeaderReader } from '../src/edge/proxy-header.ts'
import { Frames } from '../src/tunnel/frames.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { securedOver } from './tls-client.ts'
import { dial, get, OK, readUntil, statusOf } from './wire.ts'

const SIZE = 65_536
const ROUNDS = 9
const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

/** The message of a hello whose body has `size` bytes: many ciphers, or many extensions. */
function helloOf(size: number, filled: 'ciphers' | 'extensions' = 'ciphers'): Buffer {
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

/** Makes it as long as it may be, of what could go on with it. */
function filled(start: Buffer, more: Buffer = Buffer.from('x')): Buffer {
  return Buffer.concat([start, Buffer.alloc(SIZE, more)]).subarray(0, SIZE)
}

function inPieces(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

/** Returns what a reader makes of bytes that come in these pieces; `undefined` where they are not enough. */
function readAll<T>(reader: Reader<T>, pieces: readonly Buffer[]): T | undefined {
  const first = new FirstBytes(reader)
  for (const piece of pieces) {
    const read = first.push(piece)
    if (read !== undefined) return read.value
  }
  return undefined
}

function readIn<T>(reader: Reader<T>, bytes: Buffer, size: number): T | undefined {
  return readAll(reader, inPieces(bytes, size))
}

/** The cheapest of some rounds, in milliseconds: a machine that is busy only adds to it. One that is cheap enough is the last. */
async function costOf<T>(prepare: () => T | Promise<T>, work: (prepared: T) => unknown, enough = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least > enough; round++) {
    const prepared = await prepare()
    const before = process.cpuUsage()
    await work(prepared)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/**
 * The bound on the cost of an input of that size: twice what sorting its pairs of bytes costs, some 10 ms of a processor that does
 * nothing else; one that is busy is as slow at both.
 */
async function maxCost(): Promise<number> {
  const pairs = Array.from({ length: SIZE / 2 }, (_, index) => ((index * 7_919) & 0xffff).toString(16))
  return (
    2 *
    (await costOf(
      () => {},
      () => pairs.toSorted().join(),
    ))
  )
}

const empty = Buffer.from([0x16, 3, 1, 0, 0])
const HELLOS: readonly (readonly [string, Buffer])[] = [
  ['records of one byte', filled(inRecords(helloOf(16_000), 1), Buffer.from([0x16, 3, 1, 0, 1, 0]))],
  ['a first record as large as it may be, then of one byte', filled(inRecords(helloOf(16_000), 16, 1))],
  ['the smallest records', filled(inRecords(helloOf(16_000), 16))],
  ['as many records as there may be', filled(inRecords(helloOf(16_000), 255))],
  ['as many records, and each as small as they may be', filled(inRecords(helloOf(1_000), 16))],
  ['one record', filled(inRecords(helloOf(16_000), 16_384))],
  ['one record, of extensions', filled(inRecords(helloOf(16_000, 'extensions'), 16_384))],
  ['a length of three bytes', filled(inRecords(helloOf(60_000), 16_384))],
  ['empty records', filled(empty, empty)],
  ['a record that does not come', filled(Buffer.from([0x16, 3, 1, 64, 0, 1, 0, 63, 252]))],
  ['no hello', filled(Buffer.from('GET / HTTP/1.1\r\n'))],
]

const HEADERS: readonly (readonly [string, Buffer])[] = [
  ['a line without an end', filled(Buffer.from('PROXY TCP4 '))],
  ['a line of nobody', filled(Buffer.from('PROXY UNKNOWN '))],
  ['many words', filled(Buffer.from('PROXY '), Buffer.from(' '))],
  ['carriage returns', filled(Buffer.from('PROXY '), Buffer.from('\r'))],
  ['the largest header', filled(Buffer.concat([V2_START, Buffer.from([0x21, 0x11, 16, 0])]))],
  ['one that is too large', filled(Buffer.concat([V2_START, Buffer.from([0x21, 0x11, 255, 255])]))],
  ['one of no family', filled(Buffer.concat([V2_START, Buffer.from([0x20, 0, 16, 0])]))],
]

const EMPTY_FRAME = Buffer.from([0x81, 0])
const LONG_HEAD = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 0])
const FRAMES: readonly (readonly [string, Buffer])[] = [
  ['empty', filled(EMPTY_FRAME, EMPTY_FRAME)],
  ['long heads', filled(LONG_HEAD, LONG_HEAD)],
]

t.test('no input of 64 KB costs more than some milliseconds, however it comes', async (t) => {
  const expensive: string[] = []
  const max = await maxCost()
  const look = async (name: string, work: () => unknown): Promise<void> => {
    const cost = await costOf(
      () => {},
      () => {
        try {
          work()
        } catch {
          // It is refused: what that costs is looked at.
        }
      },
      max,
    )
    if (cost > max) expensive.push(`${name}: ${cost} ms`)
  }
  for (const size of [1, 2, 7, 1_460, SIZE]) {
    for (const [name, bytes] of HELLOS) {
      const pieces = inPieces(bytes, size)
      await look(`hello, ${name}, by ${size}`, () => ja4Of(readAll(readHello, pieces) ?? Buffer.alloc(0)))
    }
    for (const version of ['v1', 'v2'] as const) {
      for (const [name, bytes] of HEADERS) {
        const pieces = inPieces(bytes, size)
        await look(`PROXY ${version}, ${name}, by ${size}`, () => readAll(proxyHeaderReader(version), pieces))
      }
    }
    for (const [name, bytes] of FRAMES) {
      const pieces = inPieces(bytes, size)
      await look(`frames, ${name}, by ${size}`, () => {
        const frames = new Frames()
        for (const piece of pieces) frames.push(piece)
      })
    }
    const pieces = inPieces(Buffer.alloc(SIZE), size)
    await look(`collected, by ${size}`, () => {
      const collected = new CollectedBytes()
      for (const piece of pieces) collected.push(piece)
      return collected.all
    })
  }
  for (const filling of ['ciphers', 'extensions'] as const) {
    const message = helloOf(SIZE - 8, filling)
    await look(`JA4 of ${filling}`, () => ja4Of(message))
  }
  t.same(expensive, [])
})

t.test('records of a hello have 16 bytes at least, but for the last, and are 64 at most', async (t) => {
  const [message, longer] = [helloOf(1_019), helloOf(1_021)]
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

t.test(
  'a hello in records of one byte is refused by the listener, and others are served',
  { skip: NO_OPENSSL },
  async (t) => {
    const refused: string[] = []
    const certificates = [makeCertificate(certificateFolder(t), ['site.example'])]
    const { url } = await proxyBefore(t, OK, { tls: { certificates }, onRefused: (cause) => void refused.push(cause) })
    const hostile = await dial(url)
    hostile.write(inRecords(helloOf(16_000), 1))
    await readUntil(hostile)
    t.same(refused, ['client_hello'])
    const client = await securedOver(await dial(url))
    client.write(get('/'))
    t.equal(statusOf(await readUntil(client)), 200)
  },
)

t.test('nor does what begins a connection of HTTP/2', { skip: NO_OPENSSL }, async (t) => {
  const certificates = [makeCertificate(certificateFolder(t), ['site.example'])]
  const { url } = await proxyBefore(t, OK, { tls: { certificates } })
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const noHttp2 = Buffer.from('GET / HTTP/1.1\r\n')
  const largest = Buffer.from([255, 255, 255, 4, 0, 0, 0, 0, 0])
  const byByte = (bytes: Buffer): readonly Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]))
  const max = await maxCost()
  for (const [name, pieces] of [
    ['no preface', [filled(noHttp2)]],
    ['nearly a preface, byte by byte', [...byByte(preface.subarray(0, 23)), filled(noHttp2)]],
    ['a preface and no frames', [filled(Buffer.concat([preface, noHttp2]), noHttp2)]],
    ['a preface byte by byte, and a frame that is too large', [...byByte(preface), filled(largest)]],
  ] as const) {
    const open = async () => securedOver(await dial(url), { ALPNProtocols: ['h2'] })
    const refused = async (client: TLSSocket): Promise<void> => {
      const closed = readUntil(client)
      for (const piece of pieces) client.write(piece)
      await closed
    }
    const cost = await costOf(open, refused, max)
    t.ok(cost <= max, `${name}: ${cost} ms`)
  }
})
