import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { readConfigFrom } from '@sallyport/engine'
import { ValidationSeverity, validate } from 'dockerfile-utils'
import t from 'tap'
import { parse } from 'yaml'
import { BIN } from '../started.ts'
import { findProgram, NO_PROMTOOL, promtool } from '../tables/promtool.ts'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

/* No Docker runs here: the image and its neighbours are read as their tools read them, and held to each other. */
const FOLDER = join(ROOT, 'examples/docker')
const readText = (name: string): string => readFileSync(join(FOLDER, name), 'utf8')
const DOCKERFILE = readText('Dockerfile')

interface Service {
  readonly build?: string
  readonly image?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>> | readonly string[]
  readonly healthcheck?: object
  readonly read_only?: boolean
  readonly stop_grace_period?: string
}

const COMPOSE: Readonly<{ services: Record<string, Service>; volumes: Record<string, unknown> }> = parse(
  readText('compose.yaml'),
  { strict: true },
)

/** Lists the mounts of a service: the source and the target of each. */
function listMounts({ volumes = [] }: Service): readonly { readonly from: string; readonly to: string }[] {
  return volumes.map((volume) => {
    const [from = '', to = ''] = volume.split(':')
    return { from, to }
  })
}

t.test('the Dockerfile has no fault', async (t) => {
  const { ERROR } = ValidationSeverity
  const strict = { instructionCasing: ERROR, instructionWorkdirRelative: ERROR, emptyContinuationLine: ERROR }
  t.same(
    validate(DOCKERFILE, strict).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    [],
  )
})

t.test('the image is small in what it may do', async (t) => {
  const last = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '))
  t.match(last, /^USER 1000:1000$/m, 'nobody is root in it')
  t.match(last, /^HEALTHCHECK /m)
  t.notMatch(last, /^RUN /m, 'nothing is made in the last stage: it only copies')
  t.match(last, /^ENTRYPOINT \["sallyport"\]$/m, 'no shell is between the signal and the process')
  t.match(DOCKERFILE, /sallyport data compile --data-dir \/var\/lib\/sallyport( \\)?$/m)
  const { dataDir, data } = readConfigFrom({ file: join(FOLDER, 'image.yaml'), env: {} }).config
  t.same([dataDir, data.readOnly], ['/var/lib/sallyport', true])
})

t.test('it installs this version, with the drivers that the stores can use', async (t) => {
  const manifests = new Map(publishedWorkspaces().map(({ manifest }) => [manifest.name, manifest]))
  t.match(DOCKERFILE, new RegExp(`^ARG SALLYPORT=${manifests.get('sallyport')?.version}$`, 'm'))
  for (const name of ['@redis/client', 'pg']) {
    const range = manifests.get('@sallyport/engine')?.peerDependencies?.[name]
    t.ok(DOCKERFILE.includes(` ${name}@${range}`), `${name}@${range}`)
  }
})

t.test('compose: what a service names is there', async (t) => {
  const wrong: string[] = []
  for (const [name, service] of Object.entries(COMPOSE.services)) {
    for (const { from } of listMounts(service)) {
      const there = from.startsWith('.') ? existsSync(join(FOLDER, from)) : from in COMPOSE.volumes
      if (!there) wrong.push(`${name}: ${from}`)
    }
    const { depends_on: needs = {} } = service
    const conditions = Array.isArray(needs) ? needs.map((needed) => [needed, {}]) : Object.entries(needs)
    for (const [needed, { condition }] of conditions) {
      if (!(needed in COMPOSE.services)) wrong.push(`${name}: ${needed}`)
      const { healthcheck } = COMPOSE.services[needed] ?? {}
      if (condition === 'service_healthy' && healthcheck === undefined) wrong.push(`${name}: ${needed} tells no health`)
    }
    if (service.build === undefined && !/:v?\d/.test(service.image ?? '')) wrong.push(`${name}: no version`)
  }
  t.same(wrong, [])
})

t.test('compose: the gate has a configuration that is right, and finds its neighbours', async (t) => {
  const { sallyport, grafana } = COMPOSE.services
  t.ok(sallyport?.read_only)
  const mounted = listMounts(sallyport ?? {}).find(({ to }) => to === '/etc/sallyport/sallyport.yaml')
  const file = normalize(join(FOLDER, mounted?.from ?? ''))
  const { config, warnings } = readConfigFrom({ file, env: { ...sallyport?.environment, POSTGRES_PASSWORD: 'x1' } })
  t.same(warnings, [])
  const { store = '', redis = '', admin = '', listen, timeouts, dataDir } = config
  const { hostname, username, password, pathname } = new URL(store)
  t.same([hostname, username, password, pathname], ['postgres', 'sallyport', 'x1', '/sallyport'])
  const { environment } = COMPOSE.services['postgres'] ?? {}
  t.match(environment, { POSTGRES_USER: 'sallyport', POSTGRES_DB: 'sallyport' })
  t.equal(new URL(redis).hostname, 'redis')
  t.ok(listMounts(sallyport ?? {}).some(({ to }) => to === dataDir))
  t.same(sallyport?.ports, [`8080:${listen.split(':').at(-1)}`], 'the admin listener is not published')
  t.ok(timeouts.lameDuck + timeouts.drain < Number.parseInt(sallyport?.stop_grace_period ?? '', 10) * 1000)

  const { scrape_configs: jobs } = parse(readText('prometheus.yaml'))
  t.same(jobs[0].static_configs[0].targets, [`sallyport:${admin.split(':').at(-1)}`])
  t.same(
    parse(readText('grafana-source.yaml')).datasources.map(({ url }: { readonly url: string }) => url),
    ['http://prometheus:9090'],
  )
  const { path } = parse(readText('grafana-dashboards.yaml')).providers[0].options
  t.ok(listMounts(grafana ?? {}).some(({ to }) => to.startsWith(`${path}/`)))
})

t.test('compose: promtool reads its configuration', { skip: NO_PROMTOOL }, async (t) => {
  const folder = t.testdir()
  for (const { from, to } of listMounts(COMPOSE.services['prometheus'] ?? {})) {
    if (from.startsWith('.')) copyFileSync(join(FOLDER, from), join(folder, to.slice('/etc/prometheus/'.length)))
  }
  t.match(promtool('check', 'config', join(folder, 'prometheus.yml')), /SUCCESS: 1 rule files found/)
})

/* systemd reads its unit itself: a word that it does not know, or a program that is not there, is a fault. */
const ANALYZE = findProgram('systemd-analyze')
const UNIT = readFileSync(join(ROOT, 'examples/systemd/sallyport.service'), 'utf8')

t.test('systemd: the unit shuts the service in', { skip: ANALYZE === undefined && 'no systemd' }, async (t) => {
  const unit = join(t.testdir(), 'sallyport.service')
  writeFileSync(unit, UNIT.replace('/opt/sallyport/node_modules/.bin/sallyport', BIN))
  const analyze = (...argv: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(ANALYZE ?? '', argv, { encoding: 'utf8' })
    return { status, output: stdout + stderr }
  }
  t.same(analyze('verify', '--man=no', unit), { status: 0, output: '' })
  // Exposure from 0 to 100, more is less safe; without the sandbox it is 96.
  const { status, output } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', unit)
  t.equal(status, 0, output)
})

t.test('systemd: the configuration writes where the unit lets it, and ends in time', async (t) => {
  const { config, warnings } = readConfigFrom({ file: join(ROOT, 'examples/systemd/sallyport.yaml'), env: {} })
  t.same(warnings, [])
  t.match(UNIT, /^StateDirectory=sallyport$/m)
  t.equal(config.dataDir, '/var/lib/sallyport')
  t.match(UNIT, /^LogsDirectory=sallyport$/m)
  t.equal(dirname(config.log.file ?? ''), '/var/log/sallyport')
  t.match(UNIT, /^TimeoutStopSec=1min$/m)
  t.ok(config.timeouts.lameDuck + config.timeouts.drain < 60_000)
})
