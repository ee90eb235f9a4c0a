import { join } from 'node:path'
import { counted, type Figure, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { type Rounds, ratiosOf, takeTurns } from '../rounds.ts'
import { makeCertificate } from './certificate.ts'
import type { Shot } from './load.ts'
import { familyOf, processorTime } from './processes.ts'
import type { Program } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { pathOf, startNginxTls } from './servers.ts'
import { roundsOf } from './shot.ts'
import { OTHERS, onStand, PROXY } from './stand.ts'
import { askOverHttp2, MISSING_HTTP2_LOAD, shakeHands } from './tls-load.ts'

/** The edge: what a handshake and a request over TLS take of the proxy's processor, beside an nginx that only forwards. */
export async function benchTls(run: Run): Promise<void> {
  await onStand(run, ['openssl'], async ({ folder, dataDir, origin, load, teardown }) => {
    const certificate = await makeCertificate(folder)
    const nginx = await startNginxTls(folder, origin.url, certificate, PROXY)
    teardown(() => nginx.stop())
    const sallyport = await startSallyport({
      ...{ folder: join(folder, 'sallyport'), dataDir, upstream: origin.url, processor: PROXY },
      trustProxy: ['loopback'],
      raised: { tls: { certificates: [certificate] } },
    })
    teardown(() => sallyport.stop())
    const running = { nginx, Sallyport: sallyport }
    const path = pathOf('100 B')
    const { seconds, ...rounds } = roundsOf(run)
    const tasks: Readonly<Record<string, Task>> = {
      'a handshake': (url) => shakeHands(url, seconds, OTHERS),
      'a request of HTTP/1.1, 100 B': (url) => load.shoot(url, path, seconds),
      'a request of HTTP/2, 100 B': (url) => askOverHttp2(`${url}${path}`, seconds, OTHERS),
    }
    const figures: Figure[] = []
    for (const [name, task] of Object.entries(tasks)) {
      if (name.includes('HTTP/2') && MISSING_HTTP2_LOAD !== undefined) run.skip(`HTTP/2: ${MISSING_HTTP2_LOAD}`)
      else figures.push(...(await compare(run, name, running, rounds, task)))
    }
    run.table({ title: 'Over TLS, by processor time', figures })
  })
}

type Task = (url: string) => Promise<Shot>

/** The processor time of one operation, beside nginx's. */
async function compare(
  run: Run,
  what: string,
  running: Readonly<Record<string, Program>>,
  rounds: Rounds,
  task: Task,
): Promise<readonly Figure[]> {
  const programs = Object.entries(running)
  const names = programs.map(([name]) => `${what}, ${name}`)
  const taken = await takeTurns(run, names, rounds, async (at) => {
    const [, { pid, url }] = programs[at] as [string, Program]
    const family = familyOf(pid)
    const before = processorTime(family)
    const { requests, errors } = await task(url.replace('http:', 'https:'))
    if (!(requests > 0)) throw new Error(`no answer to ${names[at]}`)
    return { cpu: ((processorTime(family) - before) * 1e6) / requests, errors }
  })
  const cpuOf = (at: number) => (taken[at] ?? []).map(({ cpu }) => cpu)
  return programs.flatMap(([name], at): readonly Figure[] => {
    const errors = (taken[at] ?? []).reduce((sum, one) => sum + one.errors, 0)
    const beside = at === 0 ? {} : { ratio: ratiosOf(cpuOf(at), cpuOf(0)), peer: 'nginx' }
    return [
      { case: what, what: name, unit: 'µs', value: spreadOf(cpuOf(at)), ...beside },
      ...(errors > 0 ? [{ case: what, what: `${name}, errors`, unit: '', value: counted(errors) }] : []),
    ]
  })
}
