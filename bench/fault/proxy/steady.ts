import { setTimeout as delay } from 'node:timers/promises'
import { carriedRate } from '../../carried.ts'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { probed, sampleOf } from '../../proxy/held.ts'
import { resident } from '../../proxy/processes.ts'
import { type Place, withScene } from './scene.ts'
import { answerReader, dial, headOf, portOf } from './wire.ts'

const CONNECTIONS = numberFlag('steady-connections', 1_000)
const PER_SECOND = numberFlag('rate', 5_000)
const MINUTES = numberFlag('minutes', 5)
/** So few connections have one address that none has more than its share. */
const ADDRESSES = 16
const REQUEST = headOf('GET', '/')
const TICK_MS = 5
const SETTLE_MS = 3_000
/** Growth of the resident memory once garbage is collected, between the first minute and the last. */
const MAX_GROWTH = 0.05

/** A steady rate over many kept connections for minutes: no error. */
export async function faultSteady(place: Place): Promise<Measured> {
  return withScene(place, { node: probed(place.folder) }, async ({ proxy }) => {
    const load = openLoad(portOf(proxy.url))
    const rate = await carriedRate(load, PER_SECOND)
    const rows: Record<string, object> = {}
    let errors = 0
    const megabytes: number[] = []
    for (let minute = 1; minute <= Math.ceil(MINUTES) && proxy.running(); minute++) {
      const taken = await load.run(rate, Math.min(1, MINUTES - minute + 1) * 60)
      errors += taken.errors
      if (proxy.running()) {
        await sampleOf(proxy.pid, place.folder)
        megabytes.push(resident(proxy.pid))
        // The proxy sheds for a moment after it was stopped.
        await delay(SETTLE_MS)
      }
      rows[`minute ${minute}`] = {
        'answers/s': Math.round(taken.perSecond),
        'p50 ms': Number(taken.p50.toFixed(1)),
        'p99 ms': Number(taken.p99.toFixed(1)),
        MB: Math.round(megabytes.at(-1) ?? 0),
        errors: taken.errors === 0 ? 0 : JSON.stringify(taken.failures),
      }
    }
    load.close()
    console.log(`\n${rate} requests a second over ${CONNECTIONS} connections, ${MINUTES} minutes`)
    console.table(rows)
    const growth = (megabytes.at(-1) ?? Number.NaN) / (megabytes[0] ?? Number.NaN) - 1
    return {
      measured: `${rate} a second for ${MINUTES} minutes: ${errors} errors, ${(growth * 100).toFixed(1)} % more resident`,
      broken: [
        ...(proxy.running() ? [] : ['the proxy ended']),
        ...(errors > 0 ? [`${errors} errors`] : []),
        ...(growth > MAX_GROWTH ? ['it grows'] : []),
      ],
    }
  })
}

interface Taken {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  readonly failures: Readonly<Record<string, number>>
}

/** Connections that take turns: each is asked for its next request when its turn comes and it has its answer. */
function openLoad(port: number) {
  let waits: number[] = []
  let failures: Record<string, number> = {}
  const fail = (name: string) => {
    failures[name] = (failures[name] ?? 0) + 1
  }
  const open = (at: number) =>
    openConnection(port, `127.0.1.${1 + (at % ADDRESSES)}`, (waited) => waits.push(waited), fail)
  const connections = Array.from({ length: CONNECTIONS }, (_, at) => open(at))
  let turn = 0
  return {
    /** Asks at that rate for so long; what came of it. */
    async run(perSecond: number, seconds: number): Promise<Taken> {
      waits = []
      failures = {}
      const start = performance.now()
      for (let sent = 0; performance.now() - start < seconds * 1000; ) {
        for (const due = ((performance.now() - start) * perSecond) / 1000; sent < due; sent++) {
          const at = turn++ % CONNECTIONS
          if (connections[at]?.ask() === 'gone') connections[at] = open(at)
        }
        await delay(TICK_MS)
      }
      const took = (performance.now() - start) / 1000
      const sorted = waits.toSorted((x, y) => x - y)
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
      const errors = Object.values(failures).reduce((sum, times) => sum + times, 0)
      return { perSecond: waits.length / took, p50: at(0.5), p99: at(0.99), errors, failures }
    },
    close() {
      for (const { close } of connections) close()
    },
  }
}

function openConnection(port: number, address: string, answered: (ms: number) => void, fail: (name: string) => void) {
  const socket = dial(port, address)
  let asked: number | undefined
  let count = 0
  socket.on(
    'data',
    answerReader(({ status, head }) => {
      if (status === 200) answered(performance.now() - (asked ?? 0))
      else fail(String(status))
      asked = undefined
      // A connection that the proxy ends after many requests is no error.
      if (/\r\nconnection: close/i.test(head)) socket.destroy()
    }),
  )
  socket.on('close', () => {
    if (asked !== undefined) fail(count === 0 ? 'refused' : 'cut')
    asked = undefined
  })
  return {
    ask(): 'asked' | 'busy' | 'gone' {
      if (socket.destroyed) return 'gone'
      if (asked !== undefined) return 'busy'
      asked = performance.now()
      count += 1
      socket.write(REQUEST)
      return 'asked'
    },
    close: () => void socket.destroy(),
  }
}
