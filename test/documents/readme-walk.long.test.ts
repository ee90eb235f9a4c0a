import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { missing } from '../clients/programs.ts'
import { DATA_DIR } from '../data-dir.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { NO_DATA } from '../no-data.ts'
import { BIN, makeFolder, started } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { readFences } from './fences.ts'
import { shell } from './shell.ts'

/*
 * A stranger with the README alone: its commands, as they stand there, block a Tor visitor, verify evidence
 * and add a second machine. The commands of its table are in the tests of tables. Only ports and folders are the test's own.
 */
const FENCES = readFences(['README.md'])
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

function blockWith(text: string): string {
  const found = FENCES.filter((fence) => fence.text.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} blocks of the README hold ${text}`)
  return found[0]?.text ?? ''
}

interface Place {
  readonly folder: string
  readonly ports: Readonly<Record<number, number>>
  readonly dataDir: string
}

function placeBlock(block: string, { ports }: Pick<Place, 'ports'>): string {
  return block.replaceAll(/127\.0\.0\.1:(\d+)/g, (_, port: string) => `127.0.0.1:${ports[Number(port)] ?? port}`)
}

const makeEnvironment = ({ dataDir, ports }: Place) => ({
  ...(ports[9090] !== undefined && { SALLYPORT_ADMIN: `127.0.0.1:${ports[9090]}` }),
  SALLYPORT_DATA_DIR: dataDir,
})

function bash(t: Test, block: string, place: Place): Promise<string> {
  return shell(t, placeBlock(block, place), makeEnvironment(place), place.folder)
}

async function startDemo(t: Test): Promise<Place> {
  const [site, admin] = [await freePort(), await freePort()]
  const at = ['--listen', `127.0.0.1:${site}`, '--admin', `127.0.0.1:${admin}`, '--data-dir', DATA_DIR]
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.match(scripts.start, /sallyport\.mjs demo$/)
  await started(t, [BIN, 'demo', ...at], {}, 'API key')
  return { folder: makeFolder(t), dataDir: DATA_DIR, ports: { 8080: site, 9090: admin } }
}

t.test('a Tor visitor, the API, evidence and metrics', { skip: missing('curl') }, async (t) => {
  const place = await startDemo(t)
  const tried = await bash(t, blockWith('curl -i -H'), place)
  t.match(tried, /^HTTP\/1\.1 403 /)
  t.match(tried, '"request_blocked"')
  t.match(tried, '73.162.10.20')
  t.match(tried, /45\.83\.220\.10[\s\S]*vpn/)

  // These commands are within sentences of the README.
  const id = /^x-request-id: (\S+)/im.exec(tried)?.[1] ?? ''
  const said = { 'explain --request ID': 'no-tor', 'data status': 'operators', 'config check': 'valid' }
  for (const [command, answer] of Object.entries(said)) {
    t.ok(README.includes(`\`npx sallyport ${command}\``), command)
    t.match(await bash(t, `npx sallyport ${command.replace('ID', id)}`, place), answer, command)
  }

  const verified = await bash(t, blockWith('/v1/provenance/check'), place)
  t.match(verified, /authenticity +pass/)
  t.match(verified, /policy replay +pass/)
  t.match(verified, 'No check failed.')

  // Prometheus itself is in test/machines, and its tool reads the example in test/tables.
  const [file = ''] = /(?<=--config.file=)\S+/.exec(blockWith('prometheus --config.file')) ?? []
  t.match(readFileSync(join(ROOT, file), 'utf8'), '127.0.0.1:9090')
  const metrics = await bash(t, 'curl -s http://127.0.0.1:9090/metrics', place)
  t.match(metrics, /^sallyport_decisions_total\{action="block"/m)
})

t.test('the proxy in front of an origin in any language', async (t) => {
  const { port } = new URL(await startOrigin(t, (_req, res) => res.end('an answer of the origin')))
  const command = placeBlock(blockWith('sallyport proxy'), { ports: { 3000: Number(port) } }).trim()
  const argv = [BIN, ...command.split(' ').slice(2), '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const env = { SALLYPORT_DATA_DIR: DATA_DIR, SALLYPORT_DATA_REFRESH: 'false', SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m' }
  const proxy = await started(t, argv, env, 'Listening on ')
  const url = /Listening on (\S+?),/.exec(proxy.err())?.[1] ?? ''
  t.equal(await (await fetch(url)).text(), 'an answer of the origin')
})

t.test('a second machine', { skip: NO_POSTGRES || NO_REDIS || missing('openssl') }, async (t) => {
  const [postgres, redis] = [await startPostgres(t), await startRedis(t)]
  const block = blockWith('store: postgres://')
  const folder = makeFolder(t)
  const place = { folder, dataDir: join(folder, 'one'), ports: {} }
  const [key, secret] = [join(folder, 'ledger.pem'), join(folder, 'challenge')]
  const [command, random] = block.match(/openssl (?:genpkey|rand) [\w -]+/g) ?? []
  await bash(t, `umask 077; ${command} -out ${key}; ${random} > ${secret}`, place)
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
  const made = await bash(t, `npx sallyport keys create --plan starter --json --config ${machines[0]?.config}`, place)
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
