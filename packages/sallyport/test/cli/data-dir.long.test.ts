import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { open, readConfig } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { finish, LOOPBACK, makeFolder, NOBODY, run, start, visit, workspace } from './command.ts'

/** A workspace that everybody may read, and in which nothing may be written once it is sealed. */
function sealable(t: Test, lines: readonly string[] = []) {
  const made = workspace(t, lines)
  chmodSync(made.folder, 0o755)
  const dataDir = join(made.folder, 'data')
  const seal = () => {
    for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o444)
    chmodSync(dataDir, 0o555)
    t.teardown(() => chmodSync(dataDir, 0o755))
  }
  return { ...made, dataDir, seal }
}

const runAsNobody = (t: Test, ...argv: readonly string[]) => finish(start(t, argv, {}, NOBODY))

t.test('whatever is wrong with a dataDir is one sentence', async (t) => {
  const { folder, config, command, dataDir } = sealable(t)
  const askAsNobody = (...argv: readonly string[]) => runAsNobody(t, ...argv, '--config', config)
  writeFileSync(dataDir, '')
  const faults = [await command('data', 'status'), await command('data', 'status', '--data-dir', `${dataDir}/below`)]
  rmSync(dataDir)
  mkdirSync(dataDir, { mode: 0o700 })
  faults.push(await askAsNobody('proxy'))
  chmodSync(dataDir, 0o555)
  const writing = [['proxy'], ['keys', 'list'], ['ip', 'list'], ['ledger', 'verify'], ['data', 'update']]
  for (const argv of writing) faults.push(await askAsNobody(...argv))
  faults.push(await askAsNobody('proxy', '--data-dir', join(folder, 'none')))
  const told = faults.map(({ code, out, err }) => [code, out, err.replace(folder, '').replace(/user \d+/, 'user')])
  const line = (place: string, what: string) => [1, '', `sallyport: dataDir: ${place} ${what}\n`]
  const cannot = 'cannot be written: user lacks the permission'
  t.strictSame(told, [
    line('/data', 'is not a folder'),
    line('/data/below', 'cannot be created: a part of its path is not a folder'),
    line('/data', 'cannot be read: user lacks the permission'),
    ...writing.map(() => line('/data', cannot)),
    line('/none', cannot),
  ])
  chmodSync(dataDir, 0o755)
  const [damaged, letter] = [join(dataDir, 'observations.db'), 'no database, '.repeat(1_000)]
  writeFileSync(damaged, letter)
  t.match(await command('ip', 'list'), {
    code: 1,
    err: /^sallyport: dataDir: \S+ contains a database \(observations\.db\) that is corrupt\. .*\n$/,
  })
  t.equal(readFileSync(damaged, 'utf8'), letter, 'it is left alone')
})

t.test('commands that read work on a prebuilt dataDir that cannot be written, and so does a server', async (t) => {
  const { folder, config, command, write, dataDir, seal } = sealable(t)
  await command('data', 'compile')
  const compiled = readdirSync(dataDir)
  t.ok(compiled.some((name) => name.startsWith('tables-')))
  const isMade = compiled.some((name) => name.endsWith('.db') || name.endsWith('.pem'))
  t.notOk(isMade, 'no store and no key is made by compiling')
  await command('ip', 'set', '203.0.114.7', '--class', 'hosting')
  const request = write('request.json', { ip: '203.0.114.7', path: '/', userAgent: 'curl/8' })
  const tests = 'tests: [{ name: a, request: { ip: 203.0.114.7 }, expect: { action: flag } }]\n'
  const reading = [
    ['lookup', '203.0.114.7'],
    ['explain', request],
    ['policy', 'test', write('tests.yaml', tests)],
    ['data', 'status'],
  ]
  seal()
  const runs = []
  for (const argv of reading) runs.push(await runAsNobody(t, ...argv, '--config', config))
  t.strictSame([...new Set(runs.map(({ code, err }) => `${code}${err}`))], ['0'])
  t.match(runs[0]?.out, /verdict +hosting by ip_state/, 'what was set beforehand counts')

  writeFileSync(config, readFileSync(config, 'utf8').replace('data:\n', 'data:\n  readOnly: true\n'))
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK], {}, NOBODY)
  await proxy.says('API at')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  t.equal((await visit(`${url}/v1/myip`)).status, 200)
  t.equal((await visit(`${url}/v1/vpn/8.8.8.8`, { authorization: 'Bearer x' })).status, 401)
  t.equal(await proxy.stop(), 0)
  t.notMatch(proxy.err(), /sallyport: (?!A request came)|EACCES|EROFS/)

  const none = join(folder, 'none')
  const prevented = /none does not exist, and data\.readOnly prevents its creation\n$/
  t.match(await command('proxy', '--data-dir', none), { code: 1, err: prevented })
  mkdirSync(none)
  const absent = /is not compiled.*Run sallyport data compile/
  t.match(await command('proxy', '--data-dir', none), { code: 1, err: absent })
})

t.test('without places no city database is looked at', async (t) => {
  const folder = makeFolder(t)
  const config = join(folder, 'c.yaml')
  const off = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6'].map((id) => `${id}: { enabled: false }`)
  const data = `data: { refresh: false, city: false, sources: { ${off.join(', ')} } }`
  writeFileSync(config, `dataDir: ${folder}/data\n${data}\n`)
  const status = JSON.parse((await run('data', 'status', '--json', '--config', config)).out)
  const cities = status.filter(({ id }: { id: string }) => id.startsWith('dbip-city') || id === 'city')
  t.ok(cities.length >= 3)
  t.ok(cities.every(({ state }: { state: string }) => state === 'absent'))
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
  for (const [name] of versions) {
    const isRefused = refused.some(([one]) => one === name)
    t.equal(way.includes(`${name}.db`), isRefused, name)
  }
})
