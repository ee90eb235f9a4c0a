import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { certificate } from '@sallyport/test/dist/certificate.js'
import { browserFields, pairFields } from '../browser.ts'
import type { Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { visitorAddresses } from '../visitors.ts'
import { startNode } from './contenders.ts'
import type { Shot } from './load.ts'
import { isInstalled, type Program } from './program.ts'
import { sizePath, startNginxTls } from './servers.ts'
import { computeCost, shootInTurn, type Target } from './shot.ts'
import { OTHERS, PROXY, type Stand, startOnStand } from './stand.ts'

/** Below what one client may have in flight. */
const SESSIONS = 8
const STREAMS = 8
const STREAMS_ALONE = '`http2` alone'

/** Measures the proxy's processor time for a handshake and a request over TLS, beside an nginx that only forwards. */
export async function benchTls(run: Run, stand: Stand): Promise<void> {
  if (!isInstalled('openssl')) return run.skip('TLS: openssl is not installed')
  const { folder, origin, shoot } = stand
  const files = certificate(folder)
  const nginx = await startNginxTls(folder, origin.url, files, PROXY)
  const sallyport = await startOnStand(stand, 'sallyport', { raised: { tls: { certificates: [files] } } })
  const tasks: Readonly<Record<string, Target['ask']>> = {
    'a handshake': shakeHands,
    'a request of HTTP/1.1, 100 B': (url, seconds) => shoot(url, sizePath('100 B'), seconds),
    'a request of HTTP/2, 100 B': askOverHttp2,
  }
  const bare = await startNode('bare-proxy', origin.url, [files.cert, files.key])
  const figures: Figure[] = []
  for (const [name, ask] of Object.entries(tasks)) {
    if (ask === askOverHttp2 && !isInstalled('h2load')) {
      run.skip('HTTP/2: h2load is not installed')
      continue
    }
    const askSecurely: Target['ask'] = (url, seconds) => ask(url.replace('http:', 'https:'), seconds)
    const target = (who: string, program: Program): Target => ({ name: `${name}, ${who}`, program, ask: askSecurely })
    const targets = [target('nginx', nginx), target('Sallyport', sallyport)]
    if (ask === askOverHttp2) targets.push(target(STREAMS_ALONE, bare))
    const [peer, own, alone] = await shootInTurn(run, targets)
    figures.push(...computeCost({ case: name, what: 'nginx' }, peer))
    const beside = alone && { peer: STREAMS_ALONE, taken: alone, goal: { atMost: 2, of: 'ratio' } as const }
    figures.push(...computeCost({ case: name, what: 'Sallyport' }, own, beside))
    if (alone !== undefined) figures.push(...computeCost({ case: name, what: STREAMS_ALONE }, alone))
  }
  for (const program of [nginx, sallyport, bare]) await program.stop()
  run.table({ title: 'Over TLS, by processor time', figures })
}

async function readOutput(command: string, ...args: readonly string[]): Promise<string> {
  const pinned = ['--cpu-list', String(OTHERS), command, ...args]
  return (await promisify(execFile)('taskset', pinned, { maxBuffer: 1 << 24 })).stdout
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? Number.NaN)
}

/** Opens new connections one after another, each with a whole handshake and nothing after it. */
async function shakeHands(url: string, seconds: number): Promise<Shot> {
  const printed = await readOutput('openssl', 's_time', '-new', '-connect', new URL(url).host, '-time', String(seconds))
  return { requests: numberIn(printed, /^(\d+) connections in \d+ real/m), p99: Number.NaN, errors: 0 }
}

/** Sends requests of one browser over a few HTTP/2 connections with `h2load`. */
async function askOverHttp2(url: string, seconds: number): Promise<Shot> {
  const headers = pairFields(browserFields(visitorAddresses(1)[0] as string)).flatMap(([name, value]) =>
    name === 'Host' || name === 'Connection' ? [] : ['-H', `${name.toLowerCase()}: ${value}`],
  )
  const args = [`-c${SESSIONS}`, `-m${STREAMS}`, '-t1', `--duration=${seconds}`, '--warm-up-time=1', ...headers]
  const printed = await readOutput('h2load', ...args, `${url}${sizePath('100 B')}`)
  const kinds = [/, (\d{1,12}) failed/, /(\d{1,12}) 4xx/, /(\d{1,12}) 5xx/]
  const errors = kinds.reduce((sum, pattern) => sum + numberIn(printed, pattern), 0)
  return { requests: numberIn(printed, /requests: (\d{1,12}) total/), p99: Number.NaN, errors }
}
