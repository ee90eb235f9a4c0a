import t from 'tap'
import { type HelloTransport, parseClientHello } from '../src/agent/client-hello.ts'
import { computeJa4 } from '../src/agent/compute-ja4.ts'
import { parseJa4 } from '../src/agent/ja4.ts'
import { readShared, skipWithout } from './support.ts'

interface Vector {
  readonly transport: HelloTransport
  readonly client_hello_hex: string
  readonly ja4: string
  readonly source: string
  readonly frame: number
}

const VECTORS = 'ja4/client-hellos.json'

t.test('the published fingerprints of recorded hellos', { skip: skipWithout(VECTORS) }, async (t) => {
  const vectors: readonly Vector[] = JSON.parse(readShared(VECTORS))
  // The last is left out: its protocol is not ASCII, and the specification and the reference tools differ.
  for (const { transport, client_hello_hex, ja4, source, frame } of vectors.slice(0, -1))
    t.equal(computeJa4(Buffer.from(client_hello_hex, 'hex'), transport), ja4, `${source}, frame ${frame}`)
})

function u16(...values: readonly number[]): number[] {
  return values.flatMap((value) => [value >> 8, value & 0xff])
}

type Extension = readonly [number, readonly number[]]

function makeHello({ ciphers = [0x1301] as readonly number[], extensions = [] as readonly Extension[], type = 1 }) {
  const list = extensions.flatMap(([number, content]) => [...u16(number, content.length), ...content])
  const body = [...u16(0x0303), ...Array<number>(32).fill(7), 0, ...u16(ciphers.length * 2), ...u16(...ciphers), 1, 0]
  const all = [...body, ...(extensions.length === 0 ? [] : [...u16(list.length), ...list])]
  return Uint8Array.from([type, 0, ...u16(all.length), ...all])
}

function protocols(...names: readonly (readonly number[])[]): Extension {
  const list = names.flatMap((name) => [name.length, ...name])
  return [16, [...u16(list.length), ...list]]
}

t.test('the parts of a fingerprint', async (t) => {
  t.match(computeJa4(makeHello({})), /^t12i010000_[0-9a-f]{12}_000000000000$/, 'no extensions')
  const offered = [0x0a0a, 0x1302, 0x1301] as const
  const greased = computeJa4(makeHello({ ciphers: offered, extensions: [[0x1a1a, []]] }))
  t.equal(greased, computeJa4(makeHello({ ciphers: [0x1301, 0x1302] })), 'GREASE and the order of ciphers do not count')
  t.match(computeJa4(makeHello({ extensions: [protocols([0x68, 0x32], [0x68])] })), /^t12i0101h2_/)
  t.match(computeJa4(makeHello({ extensions: [protocols([0xab, 0x32])] })), /^t12i0101a2_/, 'not ASCII: hexadecimal')
  t.match(computeJa4(makeHello({ extensions: [protocols([0x78])] })), /^t12i0101xx_/)
  t.match(computeJa4(makeHello({ ciphers: Array<number>(120).fill(0x1301) })), /^t12i990000_/, 'two digits')
  t.ok(parseJa4(computeJa4(makeHello({})) ?? ''), 'what the verdict reads')
})

t.test('bytes that are no ClientHello have none', async (t) => {
  t.equal(computeJa4(makeHello({ type: 2 })), undefined, 'a ServerHello')
  t.equal(computeJa4(new Uint8Array()), undefined)
  t.equal(computeJa4(makeHello({ ciphers: [] })), undefined)
  t.equal(computeJa4(makeHello({ extensions: [[16, [0, 200, 1]]] })), undefined, 'a list longer than its extension')
  const whole = makeHello({ extensions: [protocols([0x68, 0x32]), [43, [2, 3, 4]], [13, [0, 2, 4, 3]]] })
  t.equal(parseClientHello(whole)?.version, 0x0304)
  for (let length = 0; length < whole.length; length++)
    t.equal(computeJa4(whole.subarray(0, length)), undefined, `cut after ${length} bytes`)
})
