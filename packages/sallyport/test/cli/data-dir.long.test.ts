import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { open, readConfig } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { run, start, workspace } from './command.ts'

/** Rights do not bind root: commands that must lack a right run as another user there. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** A workspace that everybody may read, and in which nothing may be written once it is sealed. */
function sealable(t: Test, lines: readonly string[] = []) {
  const { config, folder } = workspace(t, lines)
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  return {
    folder,
    config,
    dataDir,
    seal() {
      for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o444)
      chmodSync(dataDir, 0o555)
      t.teardown(() => chmodSync(dataDir, 0o755))
    },
  }
}

async function runAsNobody(t: Test, ...argv: readonly string[]) {
  const started = start(t, argv, {}, NOBODY)
  const code = (await started.ended) ?? -1
  return { code, out: started.out(), err: started.err() }
}

t.test('whatever is wrong with a dataDir is one sentence', async (t) => {
  const { folder, config, dataDir } = sealable(t)
  writeFileSync(dataDir, '')
  const faults = [await run('data', 'status', '--config', config)]
  faults.push(await run('data', 'status', '--config', config, '--data-dir', join(dataDir, 'below')))
  rmSync(dataDir)
  mkdirSync(dataDir, { mode: 0o700 })
  faults.push(await runAsNobody(t, 'proxy', '--config', config))
  chmodSync(dataDir, 0o555)
  faults.push(await runAsNobody(t, 'proxy', '--config', config))
  faults.push(await runAsNobody(t, 'keys', 'list', '--config', config))
  faults.push(await runAsNobody(t, 'ip', 'list', '--config', config))
  faults.push(await runAsNobody(t, 'ledger', 'verify', '--config', config))
  faults.push(await runAsNobody(t, 'data', 'update', '--config', config))
  faults.push(await runAsNobody(t, 'proxy', '--config', config, '--data-dir', join(folder, 'none')))
  const cannot = 'cannot be written: user \\d+ lacks the permission'
  const told = faults.map(({ code, out, err }) => [code, out, err.replace(folder, '').replace(/user \d+/, 'user')])
  const line = (place: string, what: string) => [1, '', `sallyport: dataDir: ${place} ${what}\n`]
  const written = line('/data', cannot.replace(' \\d+', ''))
  t.strictSame(told, [
    line('/data', 'is not a folder'),
    line('/data/below', 'cannot be created: a part of its path is not a folder'),
    line('/data', 'cannot be read: user lacks the permission'),
    written,
    written,
    written,
    written,
    written,
    line('/none', cannot.replace(' \\d+', '')),
  ])
})

t.test('a database that is damaged, and one of another release', async (t) => {
  const { config, dataDir } = sealable(t)
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'observations.db'), 'no database, '.repeat(1_000))
  t.match(await run('ip', 'list', '--config', config), {
    code: 1,
    err: /^sallyport: dataDir: \S+ contains a database \(observations\.db\) that is corrupt\. .*\n$/,
  })
})

t.test('commands that read work on a prebuilt dataDir that cannot be written, and so does a server', async (t) => {
  const { folder, config, dataDir, seal } = sealable(t)
  await run('data', 'compile', '--config', config)
  const compiled = readdirSync(dataDir)
  t.ok(compiled.some((name) => name.startsWith('tables-')))
  t.notOk(
    compiled.some((name) => name.endsWith('.db') || name.endsWith('.pem')),
    'no store and no key is made by compiling',
  )
  await run('ip', 'set', '203.0.114.7', '--class', 'hosting', '--config', config)
  seal()

  const request = join(folder, 'request.json')
  writeFileSync(request, JSON.stringify({ ip: '203.0.114.7', path: '/', userAgent: 'curl/8' }))
  const tests = join(folder, 'tests.yaml')
  writeFileSync(tests, 'tests: [{ name: a, request: { ip: 203.0.114.7 }, expect: { action: flag } }]\n')
  const runs = [
    await runAsNobody(t, 'lookup', '203.0.114.7', '--config', config),
    await runAsNobody(t, 'explain', request, '--config', config),
    await runAsNobody(t, 'policy', 'test', tests, '--config', config),
    await runAsNobody(t, 'data', 'status', '--config', config),
  ]
  t.strictSame(
    runs.map(({ code, err }) => [code, err]),
    runs.map(() => [0, '']),
  )
  t.match(runs[0]?.out, /verdict +hosting by ip_state/, 'what was set beforehand counts')

  writeFileSync(config, readFileSync(config, 'utf8').replace('data:\n', 'data:\n  readOnly: true\n'))
  const listening = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const proxy = start(t, ['proxy', '--config', config, ...listening], {}, NOBODY)
  await proxy.says('API at')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  t.equal((await fetch(`${url}/v1/myip`)).status, 200)
  t.equal((await fetch(`${url}/v1/vpn/8.8.8.8`, { headers: { authorization: 'Bearer x' } })).status, 401)
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)
  t.notMatch(proxy.err(), /sallyport: (?!A request came)|EACCES|EROFS/)

  const none = join(folder, 'none')
  t.match(await run('proxy', '--config', config, '--data-dir', none), {
    code: 1,
    err: /none does not exist, and data\.readOnly prevents its creation\n$/,
  })
  mkdirSync(none)
  t.match(await run('proxy', '--config', config, '--data-dir', none), {
    code: 1,
    err: /is not compiled.*Run sallyport data compile/,
  })
})

t.test('without places no city database is looked at', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'c.yaml')
  const off = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6'].map((id) => `${id}: { enabled: false }`)
  writeFileSync(
    config,
    `dataDir: ${folder}/data\ndata: { refresh: false, city: false, sources: { ${off.join(', ')} } }\n`,
  )
  const status = JSON.parse((await run('data', 'status', '--json', '--config', config)).out)
  const cities = status.filter(({ id }: { id: string }) => id.startsWith('dbip-city') || id === 'city')
  t.strictSame(
    cities.map(({ state }: { state: string }) => state),
    cities.map(() => 'absent'),
  )
  t.ok(cities.length >= 3)
  t.notOk(readdirSync(join(folder, 'data')).some((name) => name.startsWith('city-')))
})

/** Versions of the tables that 0.2 wrote: it refuses newer ones, and Upgrading says which files the way back moves away. */
const BEFORE = { bans: 1, counts: 1, 'crawler-verdicts': 1, ledger: 1, observations: 1, state: 1, tally: 1 }

t.test('the way back to the previous release moves away the files that Upgrading names, and no other', async (t) => {
  const strikes = 'policy: { strikes: { count: 2, window: 10m, on: [blocked], for: 1h } }'
  const { config, dataDir } = sealable(t, [strikes])
  const sallyport = await open(readConfig({ file: config }), { onNotice: () => {} })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  await sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer: '192.0.2.1' }), 'DE')
  await sallyport.close()
  const files = readdirSync(dataDir).filter((name) => name.endsWith('.db'))
  const versions = files.map((name) => {
    const database = new DatabaseSync(join(dataDir, name), { readOnly: true })
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    database.close()
    return [name.replace('.db', ''), version] as const
  })
  t.ok(versions.length >= 5)
  const refused = versions.filter(([name, version]) => BEFORE[name as keyof typeof BEFORE] !== version)
  const text = readFileSync(join(import.meta.dirname, '../../../docs/upgrading.md'), 'utf8')
  const [, way = ''] = text.split('## Back to 0.2')
  for (const [name] of versions)
    t.equal(
      way.includes(`${name}.db`),
      refused.some(([one]) => one === name),
      name,
    )
})
