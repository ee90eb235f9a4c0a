import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, listening, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { NO_DATA } from '../no-data.ts'
import { started } from '../started.ts'
import { WANTS } from '../tables/wants.ts'
import { ROOT } from '../workspaces.ts'
import { readFences } from './fences.ts'

/*
 * A stranger with the README alone: its commands, those of its table too, as they stand there, block a Tor visitor, draw a
 * Prometheus graph, verify evidence and add a second machine. Only ports and folders are the test's own.
 */
const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
const FENCES = readFences(['README.md'])
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The one block of the README that holds a text. */
function blockWith(text: string): string {
  const found = FENCES.filter((fence) => fence.text.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} blocks of the README hold ${text}`)
  return found[0]?.text ?? ''
}

const findMissing = (name: string) => spawnSync(name, ['--version']).error !== undefined && `no ${name}`

function chooseFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-walk-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

interface Place {
  readonly folder: string
  readonly ports: Readonly<Record<number, number>>
  readonly dataDir: string
}

/** A block of the README with the ports of the test, for `bash`. */
function placeBlock(block: string, { ports }: Place): string {
  return block
    .replaceAll(/127\.0\.0\.1:(\d+)/g, (_, port: string) => `127.0.0.1:${ports[Number(port)] ?? port}`)
    .replaceAll('npx sallyport', 'sallyport')
}

const makeEnvironment = ({ dataDir, ports }: Place) => ({
  ...process.env,
  ...(ports[9090] !== undefined && { SALLYPORT_ADMIN: `127.0.0.1:${ports[9090]}` }),
  PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
  SALLYPORT_DATA_DIR: dataDir,
})

function bash(t: Test, block: string, place: Place): string {
  const script = ['-euo', 'pipefail', '-c', placeBlock(block, place)]
  const { status, stdout, stderr } = spawnSync('bash', script, {
    cwd: place.folder,
    env: makeEnvironment(place),
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  return stdout
}

/** Starts the demo of `npm start` on free ports. */
async function startDemo(t: Test): Promise<Place> {
  const [site, admin, prometheus] = [await freePort(), await freePort(), await freePort()]
  const at = ['--listen', `127.0.0.1:${site}`, '--admin', `127.0.0.1:${admin}`, '--data-dir', DATA_DIR]
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.match(scripts.start, /sallyport\.mjs demo$/)
  await started(t, [BIN, 'demo', ...at], {}, 'API key')
  return { folder: chooseFolder(t), dataDir: DATA_DIR, ports: { 8080: site, 9090: admin, 9099: prometheus } }
}

t.test('a Tor visitor, the API, evidence and a graph', { skip: findMissing('curl') }, async (t) => {
  const place = await startDemo(t)
  const tried = bash(t, blockWith('curl -i -H'), place)
  t.match(tried, /^HTTP\/1\.1 403 /)
  t.match(tried, '"request_blocked"')
  t.match(tried, '73.162.10.20')
  t.match(tried, /45\.83\.220\.10[\s\S]*vpn/)

  for (const { command } of WANTS) t.not(bash(t, command, place), '', command)

  // These commands are within sentences of the README.
  const id = /^x-request-id: (\S+)/im.exec(tried)?.[1] ?? ''
  const said = { 'explain --request ID': 'no-tor', 'data status': 'operators', 'config check': 'valid' }
  for (const [command, answer] of Object.entries(said)) {
    t.ok(README.includes(`\`npx sallyport ${command}\``), command)
    t.match(bash(t, `npx sallyport ${command.replace('ID', id)}`, place), answer, command)
  }

  const verified = bash(t, blockWith('/v1/provenance/check'), place)
  t.match(verified, /authenticity +pass/)
  t.match(verified, /policy replay +pass/)
  t.match(verified, 'No check failed.')

  await t.test('Prometheus', { skip: findMissing('prometheus') }, async (t) => {
    cpSync(join(ROOT, 'examples/prometheus'), join(place.folder, 'examples/prometheus'), { recursive: true })
    const file = join(place.folder, 'examples/prometheus/prometheus.yaml')
    writeFileSync(
      file,
      placeBlock(readFileSync(file, 'utf8').replace('scrape_interval: 15s', 'scrape_interval: 1s'), place),
    )
    const script = `exec ${placeBlock(blockWith('prometheus --config.file'), place)}`
    const child = spawn('bash', ['-c', script], { cwd: place.folder, env: makeEnvironment(place), stdio: 'ignore' })
    t.teardown(() => void child.kill('SIGKILL'))
    const query = encodeURIComponent('sum by (action) (sallyport_decisions_total)')
    const url = `http://127.0.0.1:${place.ports[9099]}/api/v1/query?query=${query}`
    let counted: readonly { readonly metric: object }[] = []
    for (let tries = 0; tries < 600 && counted.length === 0; tries++) {
      await delay(100)
      const answer = await fetch(url).catch(() => undefined)
      if (answer?.ok) counted = ((await answer.json()) as { data: { result: typeof counted } }).data.result
    }
    t.match(
      counted.map(({ metric }) => metric),
      [{ action: 'block' }],
    )
  })
})

t.test('the proxy in front of an origin in any language', async (t) => {
  const origin = createServer((_req, res) => void res.end('an answer of the origin'))
  const port = await listening(t, origin)
  const command = placeBlock(blockWith('sallyport proxy'), { folder: '', dataDir: '', ports: { 3000: port } }).trim()
  const argv = [BIN, ...command.split(' ').slice(1), '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const env = { SALLYPORT_DATA_DIR: DATA_DIR, SALLYPORT_DATA_REFRESH: 'false', SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m' }
  const proxy = await started(t, argv, env, 'Listening on ')
  const url = /Listening on (\S+?),/.exec(proxy.err())?.[1] ?? ''
  t.equal(await (await fetch(url)).text(), 'an answer of the origin')
})

t.test('a second machine', { skip: NO_POSTGRES || NO_REDIS || findMissing('openssl') }, async (t) => {
  const [postgres, redis] = [await startPostgres(t), await startRedis(t)]
  const block = blockWith('store: postgres://')
  const folder = chooseFolder(t)
  const key = join(folder, 'ledger.pem')
  const [command = ''] = /openssl genpkey [\w -]+/.exec(block) ?? []
  bash(t, `umask 077; ${command} -out ${key}`, { folder, dataDir: folder, ports: {} })
  const secret = join(folder, 'challenge')
  const [random = ''] = /openssl rand [\w -]+/.exec(block) ?? []
  bash(t, `umask 077; ${random} > ${secret}`, { folder, dataDir: folder, ports: {} })
  const lines = block
    .replace(/postgres:\/\/\S+/, await postgres.database())
    .replace(/redis:\/\/\S+/, redis.url)
    .replace('/etc/sallyport/ledger.pem', key)
    .replace('/etc/sallyport/challenge-secret', secret)
  const common = `${lines}demo: true\ndata: ${JSON.stringify({ refresh: false, sources: NO_DATA })}\n`
  const machines = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const [port, dataDir, config] = [await freePort(), join(folder, name), join(folder, `${name}.yaml`)]
      writeFileSync(config, `${common}listen: 127.0.0.1:${port}\nadmin: 127.0.0.1:0\ndataDir: ${dataDir}\n`)
      await started(t, [BIN, 'proxy', '--config', config], {}, 'Listening on ')
      return { config, url: `http://127.0.0.1:${port}` }
    }),
  )
  const place = { folder, dataDir: join(folder, 'one'), ports: {} }
  const made = bash(t, `npx sallyport keys create --plan starter --json --config ${machines[0]?.config}`, place)
  const headers = { authorization: `Bearer ${JSON.parse(made).key}` }
  for (const { url } of [...machines, ...machines]) {
    const answer = await fetch(`${url}/v1/vpn/192.0.2.1`, { headers })
    t.equal(answer.status, 200, await answer.text())
  }
  for (const { url } of machines) {
    const usage = async () => {
      const limits = await (await fetch(`${url}/v1/user/limits`, { headers })).json()
      return (limits as { usage: number }).usage
    }
    // A machine's reservation counts as used until it gives it back.
    for (let tries = 0; tries < 100 && (await usage()) !== 4; tries++) await delay(50)
    t.equal(await usage(), 4, 'calls of both machines are counted together')
  }
})
