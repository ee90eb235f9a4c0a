import { browserFields } from '../browser.ts'
import type { Run } from '../report/run.ts'
import { type App, type Load, type Pair, shootPairs, spreadOfPairs, startApps } from '../shots.ts'
import { visitorAddresses } from '../visitors.ts'
import { passesFor } from './passes.ts'

const VISITORS = 500
const PROCESSES = 4

/** A request of who holds a pass where a rule asks, beside one of who holds none where nothing asks. */
export async function benchRequests(run: Run): Promise<void> {
  const passes = await passesFor('127.0.0.1', VISITORS)
  const load = visitorAddresses(VISITORS).map((address, at): readonly [Load, Load] => {
    const headers = headersOf(browserFields(address))
    const cookie = `${headers['Cookie']}; sallyport=${passes[at]}`
    return [
      { path: '/', headers },
      { path: '/', headers: { ...headers, Cookie: cookie } },
    ]
  })
  const [plain, passing] = [load.map(([one]) => one), load.map(([, one]) => one)]
  const processes: (readonly Pair[])[] = []
  for (let turn = 0; turn < run.pick(PROCESSES, 1); turn++) {
    run.step(`requests with a pass, process ${turn + 1}`)
    const apps = (await startApps('challenge/asked-server.js')) as readonly [App, App]
    processes.push(await shootPairs(run, apps, plain, passing))
  }
  const of = (read: (...pair: Pair) => number) => spreadOfPairs(processes, read)
  run.table({
    title: '`node:http`, a request of who holds a pass, by processor time',
    figures: [
      { case: 'no rule asks, no pass', what: 'a request', unit: 'µs', value: of((without) => without.cpu) },
      { case: 'a rule asks all, each has a pass', what: 'a request', unit: 'µs', value: of((_, inside) => inside.cpu) },
      {
        case: 'a rule asks all, each has a pass',
        what: 'more',
        unit: '%',
        value: of((without, inside) => (inside.cpu / without.cpu - 1) * 100),
        goal: { atMost: 2 },
      },
    ],
  })
}

function headersOf(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 2; at < fields.length; at += 2) {
    const name = fields[at] as string
    if (name !== 'Connection') headers[name] = fields[at + 1] as string
  }
  return headers
}
