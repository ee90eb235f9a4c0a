import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { numberFlag } from '../flags.ts'
import { median, shuffled } from '../rounds.ts'
import type { Shot } from './load.ts'
import { familyOf, processorTime } from './processes.ts'
import type { Program } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { type CertificateFiles, pathOf, startNginxTls } from './servers.ts'
import { OTHERS, onStand, PROXY } from './stand.ts'
import { askOverHttp2, MISSING_HTTP2_LOAD, shakeHands } from './tls-load.ts'

const ROUNDS = numberFlag('rounds', 9)
const SECONDS = numberFlag('seconds', 2)
const WARM_UP_ROUNDS = 2

interface Task {
  readonly name: string
  readonly shoot: (url: string) => Promise<Shot>
}

/** The edge: what a handshake and a request over TLS take of the proxy's processor, beside an nginx that only forwards. */
export async function benchTls(): Promise<void> {
  await onStand('tls', ['openssl'], async ({ folder, dataDir, origin, load, teardown }) => {
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
    await compare('a handshake', running, { name: 'node:tls', shoot: (url) => shakeHands(url, SECONDS, OTHERS) })
    await compare('a request of HTTP/1.1 over TLS, 100 B', running, {
      name: load.name,
      shoot: (url) => load.shoot(url, path, SECONDS),
    })
    if (MISSING_HTTP2_LOAD !== undefined) return console.log(`\nHTTP/2: skipped: ${MISSING_HTTP2_LOAD}`)
    await compare('a request of HTTP/2, 100 B', running, {
      name: 'h2load',
      shoot: (url) => askOverHttp2(`${url}${path}`, SECONDS, OTHERS),
    })
  })
}

/** Prints the processor time of one operation, as a multiple of nginx's. */
async function compare(what: string, running: Readonly<Record<string, Program>>, { name, shoot }: Task): Promise<void> {
  const programs = Object.entries(running)
  const taken = programs.map((): number[] => [])
  const shots = programs.map((): Shot[] => [])
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const at of shuffled(programs.length)) {
      const [, { pid, url }] = programs[at] as [string, Program]
      const family = familyOf(pid)
      const before = processorTime(family)
      const shot = await shoot(url.replace('http:', 'https:'))
      const time = ((processorTime(family) - before) * 1e6) / shot.requests
      if (round < 0) continue
      taken[at]?.push(time)
      shots[at]?.push(shot)
    }
  }
  const [baseline = []] = taken
  console.log(`\n${what}, by ${name}, ${ROUNDS} rounds of ${SECONDS} s; what was compared is the processor time`)
  console.table(
    Object.fromEntries(
      programs.map(([title], at) => {
        const own = taken[at] ?? []
        const ratio = median(own.map((time, round) => time / (baseline[round] as number)))
        const perSecond = median((shots[at] ?? []).map(({ requests, seconds }) => requests / seconds))
        const errors = (shots[at] ?? []).reduce((sum, shot) => sum + shot.errors, 0)
        return [
          title,
          {
            'times nginx': Number(ratio.toFixed(2)),
            µs: Number(median(own).toPrecision(3)),
            'a second': Math.round(perSecond),
            errors,
          },
        ]
      }),
    ),
  )
}

/** As most sites have one: ECDSA on P-256. */
async function makeCertificate(folder: string): Promise<CertificateFiles> {
  const files = { cert: join(folder, 'site.pem'), key: join(folder, 'site.key') }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.key]
  const about = [
    '-x509',
    '-days',
    '7',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ]
  await promisify(execFile)('openssl', ['req', ...about, ...key, '-out', files.cert])
  return files
}
