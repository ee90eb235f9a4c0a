import { setTimeout as delay } from 'node:timers/promises'
import type { Measured } from '../../promises.ts'
import { sampleOf } from '../../proxy/held.ts'
import { descriptors, resident } from '../../proxy/processes.ts'
import type { Sallyport } from '../../proxy/sallyport.ts'

/** Connections to the origin that nobody uses are kept for four seconds. */
const IDLE_MS = 6_000
/** How much longer what was left may take. */
const PATIENCE_MS = 4_000
/** Descriptors that a process opens now and then for itself. */
const MORE_DESCRIPTORS = 4
/** Bytes that a process keeps for a while, garbage apart, without a leak. */
const MORE_MEGABYTES = 50

/** Descriptors and memory of a quiet proxy. */
export interface Held {
  readonly descriptors: number
  readonly megabytes: number
}

/** Before a run: descriptors of the fresh proxy, which was `probed` in that folder, and its memory once `warmUp` has been done. */
export async function heldBefore({ pid }: Sallyport, folder: string, warmUp: () => Promise<void>): Promise<Held> {
  const opened = descriptors(pid)
  await warmUp()
  await delay(IDLE_MS)
  await sampleOf(pid, folder)
  return { descriptors: opened, megabytes: resident(pid) }
}

/** The leftovers of a run, once all its clients have gone. */
export async function leftBehind(proxy: Sallyport, folder: string, before: Held, name: string): Promise<Measured> {
  if (!proxy.running()) return { measured: '', broken: [`the proxy ended: ${proxy.said().slice(-2_000)}`] }
  const enough = (open: number) => open <= before.descriptors + MORE_DESCRIPTORS
  await delay(IDLE_MS)
  for (let waited = 0; !enough(descriptors(proxy.pid)) && waited < PATIENCE_MS; waited += 500) await delay(500)
  await sampleOf(proxy.pid, folder)
  const after: Held = { descriptors: descriptors(proxy.pid), megabytes: resident(proxy.pid) }
  const measured = `${name}: ${before.descriptors} descriptors before and ${after.descriptors} after, ${Math.round(before.megabytes)} MB and ${Math.round(after.megabytes)} MB`
  console.log(measured)
  const broken: string[] = []
  if (!enough(after.descriptors)) broken.push(`${after.descriptors - before.descriptors} descriptors stay open`)
  if (after.megabytes > before.megabytes + MORE_MEGABYTES) {
    broken.push(`${Math.round(after.megabytes - before.megabytes)} MB more`)
  }
  if (/^ {4}at /m.test(proxy.said())) broken.push('a stack is printed')
  return { measured, broken }
}

/** Does `work` so often, some at a time. */
export async function repeat(times: number, atOnce: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < times) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, lane))
}
