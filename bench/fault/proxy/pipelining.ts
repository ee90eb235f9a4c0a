import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { forgetPeak, peak } from '../../proxy/processes.ts'
import { startChild } from './child.ts'
import { failureText } from './crowd.ts'
import { type Place, withScene } from './scene.ts'
import { startVisitors } from './visitors.ts'
import { portOf } from './wire.ts'

const CONNECTIONS = numberFlag('flood-connections', 900)
const REQUESTS = numberFlag('flood-requests', 3_000)
/** So few of them have one address that none has more than its share of connections. */
const ADDRESSES = 8
const DURING_MS = 15_000
const MAX_P99_MS = 1_000
const MAX_MEGABYTES = 400

/** Many connections write thousands of requests at once: nobody else waits long, and little is kept of it. */
export async function faultPipelining(place: Place): Promise<Measured> {
  return withScene(place, {}, async ({ proxy, cleanup }) => {
    const visitors = startVisitors(proxy.url)
    cleanup.teardown(() => visitors.stop())
    await delay(3_000)
    const flooders = await startChild<string, number>(
      'flooders.js',
      portOf(proxy.url),
      CONNECTIONS,
      REQUESTS,
      ADDRESSES,
    )
    cleanup.teardown(() => flooders.stop())
    visitors.take()
    await delay(2_000)
    const before = visitors.take()
    forgetPeak(proxy.pid)
    await flooders.ask()
    await delay(DURING_MS)
    const during = visitors.take()
    const megabytes = proxy.running() ? peak(proxy.pid) : Number.NaN
    console.log(`\n${CONNECTIONS} connections write ${REQUESTS} requests each at once`)
    console.table({
      'all others': {
        'p99 ms before': Number(before.p99.toFixed(1)),
        'p99 ms': Number(during.p99.toFixed(1)),
        'answers/s before': Math.round(before.perSecond),
        'answers/s': Math.round(during.perSecond),
        'MB at the most': Math.round(megabytes),
        'flooders cut': await flooders.ask(),
        failures: failureText(during),
      },
    })
    const measured = `others wait ${Math.round(during.p99)} ms (p99), ${Math.round(megabytes)} MB at the most`
    if (!proxy.running()) return { measured, broken: ['the proxy ended'] }
    const broken: string[] = []
    if (!(during.p99 < MAX_P99_MS)) broken.push(`more than ${MAX_P99_MS} ms`)
    if (!(megabytes < MAX_MEGABYTES)) broken.push(`more than ${MAX_MEGABYTES} MB`)
    return { measured, broken }
  })
}
