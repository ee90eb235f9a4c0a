import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { probed } from '../../proxy/held.ts'
import { descriptors, resident } from '../../proxy/processes.ts'
import type { Sallyport } from '../../proxy/sallyport.ts'
import { heldBefore, leftBehind, repeat } from './left-behind.ts'
import { CLOCKED, ORIGIN_FAULTS } from './origin-faults.ts'
import { type Place, withScene } from './scene.ts'
import { dial, headOf, portOf, readToEnd } from './wire.ts'

const EACH = numberFlag('each', 500)
const AT_ONCE = 100
const WARM_UP = 20
const VISITORS = 16
/** Longer than every clock of the proxy. */
const PATIENCE_MS = 60_000

/** An origin that fails in 39 ways, 500 times in each: the proxy lives, and nothing of it stays behind. */
export async function faultOrigins(place: Place): Promise<Measured> {
  // Three of the faults end by a clock.
  const raised = { timeouts: { originHeaders: '2s', idleBody: '2s' } }
  return withScene(place, { origin: 'raw-origin.js', raised, node: probed(place.folder) }, async ({ proxy }) => {
    const rows: Record<string, object> = {}
    const broken: string[] = []
    const names = Object.keys(ORIGIN_FAULTS)
    const before = await heldBefore(proxy, place.folder, async () => {
      // Those that only a clock ends are the last, and warm nothing up.
      for (let at = 0; at < names.length - CLOCKED; at++) await fail(proxy, at, WARM_UP)
    })
    for (const [at, name] of names.entries()) {
      const outcomes = await fail(proxy, at, EACH)
      if (!proxy.running()) break
      rows[name] = {
        outcomes: [...outcomes].map(([outcome, times]) => `${outcome} ×${times}`).join(', '),
        descriptors: descriptors(proxy.pid),
        MB: Math.round(resident(proxy.pid)),
      }
      if (outcomes.has(LATE)) broken.push(`an origin, ${name}: ${outcomes.get(LATE)} clients have no end`)
      if (!(await isServed(proxy))) broken.push(`an origin, ${name}: then a good request fails`)
    }
    console.log(`\nan origin that fails in ${names.length} ways, ${EACH} times in each`)
    console.table(rows)
    const left = await leftBehind(proxy, place.folder, before, `${names.length} faults, ${EACH} times each`)
    return { measured: left.measured, broken: [...broken, ...left.broken] }
  })
}

async function fail(proxy: Sallyport, number: number, times: number): Promise<ReadonlyMap<string, number>> {
  const outcomes = new Map<string, number>()
  await repeat(times, AT_ONCE, async (at) => {
    const outcome = await ask(proxy, `/fault/${number}`, at)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  })
  return outcomes
}

const LATE = 'late'
/** An origin that floods makes the proxy shed for a moment. */
const RETRY_MS = 1_000

async function isServed(proxy: Sallyport): Promise<boolean> {
  const status = await ask(proxy, '/good', 0)
  if (status !== '503') return status === '200'
  await delay(RETRY_MS)
  return (await ask(proxy, '/good', 0)) === '200'
}

/** The status of the answer, and whether it was cut; every third request has a body. */
async function ask({ url }: Sallyport, path: string, at: number): Promise<string> {
  const socket = dial(portOf(url), `127.0.1.${1 + (at % VISITORS)}`)
  const body = at % 3 === 2 ? 'x'.repeat(1_000) : ''
  const fields = ['Connection: close', ...(body === '' ? [] : [`Content-Length: ${body.length}`])]
  socket.write(headOf(body === '' ? 'GET' : 'POST', path, ...fields) + body)
  const bytes = await readToEnd(socket, PATIENCE_MS)
  if (bytes === 'late') return LATE
  const text = bytes.toString('latin1').replace(/^(HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, '')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]
  if (status === undefined) return 'cut before an answer'
  return isWhole(text) ? status : `${status}, cut`
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n') + 4
  const head = text.slice(0, end)
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return text.endsWith('0\r\n\r\n')
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  return length === undefined || text.length - end >= Number(length)
}
