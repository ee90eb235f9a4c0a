import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { certificate } from '../certificate.ts'
import { NO_DATA } from '../no-data.ts'
import { BIN, started } from '../started.ts'
import { findProgram } from '../tables/promtool.ts'
import { ROOT } from '../workspaces.ts'

/* Every query of the dashboard and every alert, asked of a real Prometheus that scrapes a real gate. */
const PROMETHEUS = findProgram('prometheus')
const ALERTS = join(ROOT, 'examples/prometheus/alerts.yaml')

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}
const PANELS: readonly Panel[] = JSON.parse(readFileSync(join(ROOT, 'examples/grafana/sallyport.json'), 'utf8')).panels

/** Panels of what takes longer than a test, or another machine: their metrics are there, and their queries can be asked. */
const WITHOUT_VALUES: readonly string[] = [
  'Ledger',
  'Challenges that are solved, by rule',
  'Time from a challenge to its pass',
  'Challenges without a solution, by rule',
  'Challenges solved, 1 h',
]

/** A gate with a certificate that expires soon, before an origin that is dead, which refuses its last configuration. */
async function openGate(t: Test) {
  const folder = t.testdir()
  const { cert, key } = certificate(folder, 5)
  const [listen, admin, origin] = [await freePort(), await freePort(), await freePort()]
  const file = join(folder, 'sallyport.yaml')
  const config = {
    data: { refresh: false, sources: NO_DATA },
    dataDir: join(folder, 'data'),
    listen: `127.0.0.1:${listen}`,
    admin: `127.0.0.1:${admin}`,
    upstream: `http://127.0.0.1:${origin}`,
    trustProxy: ['loopback'],
    tls: { certificates: [{ cert, key }] },
    limits: { eventLoopDelay: '1m' },
    log: { file: join(folder, 'decisions.log') },
    net: { allowPrivate: ['127.0.0.0/8'] },
    notify: [{ url: `http://127.0.0.1:${origin}/`, secret: 'k'.repeat(32), on: ['origin'] }],
    policy: {
      rules: [
        { id: 'closed', match: { path: ['/closed/**'] }, action: 'block' },
        { id: 'ask', match: { path: ['/ask/**'] }, action: 'challenge' },
        { id: 'few', match: { path: ['/few'] }, limit: { key: 'client', max: 1, window: '1h' }, action: 'throttle' },
      ],
    },
  }
  writeFileSync(file, JSON.stringify(config))
  const gate = await started(t, [BIN, 'proxy', '--config', file], {}, 'Health at')
  writeFileSync(file, JSON.stringify({ ...config, mode: 'neither' }))
  await gate.reload('configuration unchanged')

  let stopped = false
  t.teardown(() => {
    stopped = true
  })
  const ask = async (path: string): Promise<void> => {
    const headers = { 'x-forwarded-for': '8.8.4.4', 'user-agent': 'Mozilla/5.0', accept: 'text/html' }
    const options = { host: '127.0.0.1', port: listen, path, headers, agent: false, rejectUnauthorized: false }
    const [response] = await once(request(options).end(), 'response')
    await text(response)
  }
  const visit = async (): Promise<void> => {
    while (!stopped) {
      // The last is refused before anything is decided.
      for (const path of ['/', '/closed/x', '/ask/x', '/few', '/a%00b']) await ask(path)
      await delay(50)
    }
  }
  void visit().catch((error: unknown) => stopped || t.fail(String(error)))
  return { admin: `127.0.0.1:${admin}` }
}

/** Opens a Prometheus of the test's own that scrapes an address each half second. */
async function openPrometheus(t: Test, target: string) {
  const folder = join(t.testdirName, 'prometheus')
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'prometheus.json')
  const jobs = [{ job_name: 'sallyport', static_configs: [{ targets: [target] }] }]
  const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' }
  writeFileSync(config, JSON.stringify({ global, rule_files: [ALERTS], scrape_configs: jobs }))
  const address = `127.0.0.1:${await freePort()}`
  const options = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`]
  const child = spawn(PROMETHEUS ?? '', options, { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return async (path: string, query: Readonly<Record<string, string>> = {}) => {
    for (;;) {
      try {
        const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`)
        if (answer.status !== 503) return (await answer.json()) as { readonly status: string; readonly data: never }
      } catch (error) {
        // It starts.
        if (child.exitCode !== null) throw error
      }
      await delay(50)
    }
  }
}

interface Rule {
  readonly name: string
  readonly health: string
  readonly state: string
}

t.test(
  'every query of dashboard and alerts is answered',
  { skip: PROMETHEUS === undefined && 'no prometheus' },
  async (t) => {
    const { admin } = await openGate(t)
    const ask = await openPrometheus(t, admin)
    const scrape = await (await fetch(`http://${admin}/metrics`)).text()
    const known = new Set([...scrape.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))

    const askPrometheus = async (expr: string): Promise<{ readonly status: string; readonly count: number }> => {
      const query = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')
      const { status, data } = await ask('query', { query })
      const { result = [] } = (data ?? {}) as { readonly result?: readonly unknown[] | undefined }
      return { status, count: result.length }
    }
    // Two scrapes of what the visits have counted.
    const first = 'rate(sallyport_limited_requests_total{outcome="beyond"}[1m])'
    while ((await askPrometheus(first)).count === 0) await delay(100)
    await delay(1_000)

    const empty: string[] = []
    for (const { title, targets } of PANELS) {
      for (const { expr } of targets) {
        for (const [name = ''] of expr.matchAll(/\b(?:sallyport|process|nodejs)_\w+/g)) {
          t.ok(known.has(name) || known.has(name.replace(/_(?:bucket|sum|count)$/, '')), `${title}: ${name}`)
        }
        const { status, count } = await askPrometheus(expr)
        t.equal(status, 'success', `${title}: ${expr}`)
        if (count === 0 && !empty.includes(title)) empty.push(title)
      }
    }
    t.same(empty.sort(), [...WITHOUT_VALUES].sort(), 'panels without values')

    const rules = async (): Promise<readonly Rule[]> => {
      const { groups } = (await ask('rules')).data as {
        readonly groups: readonly { readonly rules: readonly Rule[] }[]
      }
      return groups.flatMap((group) => group.rules)
    }
    // Alerts that have a reason are pending, or fire.
    for (const alert of ['CertificateExpires', 'OriginDown', 'OriginFailing', 'ReloadRefused']) {
      const isActive = ({ name, state }: Rule) => name === `Sallyport${alert}` && state !== 'inactive'
      while (!(await rules()).some(isActive)) await delay(100)
    }
    t.notOk((await rules()).some(({ health }) => health !== 'ok'))
  },
)
