import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createFakeDns } from '@sallyport/core/testing'
import t from 'tap'
import { openFeedServer } from '#datasets/testing'
import { freePort, listening, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import { type ConfigInput, doctor, examineNamed, open, readConfigFrom } from '../../src/open/index.ts'
import { answering, bad, DNS, of, soundConfig } from '../config/sound-config.ts'
import { BOUNCER_KEY, openLocalCrowdsec } from '../features/lists/local-crowdsec.ts'
import { madeConfig } from '../open/made-sources.ts'

t.test('a service that is well has nothing to do, before its first start, after it and while it runs', async (t) => {
  const config = await soundConfig(t)
  const before = await doctor(config, { dns: DNS })
  t.match(bad(before), [{ check: 'data', state: 'warn', found: 'No data is compiled yet.' }])
  t.match(of(before, 'dataDir'), [{ state: 'ok', found: /is not there; the first start makes it/ }])
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const findings = await doctor(config, { dns: DNS })
  t.strictSame(bad(findings), [])
  t.match(of(findings, 'store'), [{ found: /^SQLite 3\.\d+\.\d+: [3-9] of [3-9] files can be read\.$/ }])
  t.match(of(findings, 'data'), [{ found: /^\d+ sources are loaded and none is past its age\.$/ }])
  t.match(of(findings, 'clock'), [{ found: /^It is \d{4}-/ }])
  const running = await answering(t, '{"status":"ok"}\n')
  const gate = await answering(t, '{"error":"invalid_request","message":"-","details":{"requestId":"-"}}')
  const used = of(await doctor({ ...config, listen: gate, admin: running }, { dns: DNS }), 'listeners')
  t.match(used, [
    { state: 'ok', found: /in use, and a Sallyport runs here/ },
    { state: 'ok', found: /in use, and a Sallyport runs here/ },
  ])
})

t.test('servers are asked for their version and clock', { skip: NO_POSTGRES || NO_REDIS }, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
  const config = { ...(await soundConfig(t)), store: await postgres.database(), redis: redis.url }
  const findings = await doctor(config, { dns: DNS })
  t.match(of(findings, 'store'), [{ state: 'ok', found: /^PostgreSQL \d+(\.\d+)* at 127\.0\.0\.1:\d+, \d+ ms\.$/ }])
  t.match(of(findings, 'redis'), [{ state: 'ok', found: /^Redis \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+, \d+ ms\.$/ }])
  t.match(of(findings, 'clock'), [
    { state: 'ok', found: /^PostgreSQL \d\S* has the same time\.$/ },
    { state: 'ok', found: /^Redis \d\S* has the same time\.$/ },
  ])
})

t.test('CrowdSec is tried where it is a list, and its stream is left alone', async (t) => {
  const [crowdsec, config] = [await openLocalCrowdsec(t), await soundConfig(t)]
  const found = async (key: string) => {
    const more = { lists: { crowd: { crowdsec: crowdsec.url, key } }, net: { allowPrivate: ['127.0.0.0/8'] } }
    return of(await doctor({ ...config, ...more }, { dns: DNS }), 'lists')
  }
  const { host } = new URL(crowdsec.url)
  const known = `CrowdSec at ${host} knows the key of the list crowd.`
  t.strictSame(await found(BOUNCER_KEY), [{ check: 'lists', state: 'ok', found: known }])
  t.same(crowdsec.asked, ['GET /v1/decisions?ip=192.0.2.1'])
  const wrong = await found('s3cret-key')
  const said = `CrowdSec at ${host} cannot be used: the key is answered with 403.`
  t.match(wrong, [{ state: 'fail', found: said, path: ['lists', 'crowd'] }])
  t.ok(wrong.every(({ passing }) => passing))
  t.notMatch(JSON.stringify(wrong), /s3cret/)
})

t.test('stores that cannot be used are named without their passwords', async (t) => {
  const port = await freePort()
  const findings = await doctor(
    {
      ...(await soundConfig(t)),
      store: `postgres://user:s%26cret@127.0.0.1:${port}/x`,
      redis: `redis://:s%26cret@127.0.0.1:${port}`,
    },
    { dns: DNS },
  )
  t.match(of(findings, 'store'), [{ state: 'fail', found: /^127\.0\.0\.1:\d+ cannot be used: \S/, advice: /\S/ }])
  t.match(of(findings, 'redis'), [
    {
      state: 'fail',
      found: /^127\.0\.0\.1:\d+ cannot be used: Redis is not connected: nothing listens there\.$/,
      advice: /\S/,
    },
  ])
  t.notMatch(JSON.stringify(findings), /cret/)
})

t.test('damaged databases, open keys and a dataDir that is none', async (t) => {
  const config = await soundConfig(t)
  const dataDir = String(config.dataDir)
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'state.db'), 'no database, '.repeat(1_000))
  writeFileSync(join(dataDir, 'signing-key.pem'), '')
  chmodSync(join(dataDir, 'signing-key.pem'), 0o644)
  const findings = await doctor(config, { dns: DNS })
  t.match(of(findings, 'store'), [{ state: 'fail', found: /state\.db is no database of SQLite, or a damaged one\.$/ }])
  t.match(of(findings, 'dataDir'), [{ state: /ok|warn/ }, { state: 'fail', advice: /^chmod 600 \S+signing-key\.pem$/ }])
  rmSync(dataDir, { recursive: true })
  writeFileSync(dataDir, '')
  t.match(of(await doctor(config, { dns: DNS }), 'dataDir'), [{ state: 'fail', found: /is not a folder\.$/ }])
  const prebuilt = { ...config, dataDir: join(t.testdir(), 'none'), data: { ...config.data, readOnly: true } }
  t.match(of(await doctor(prebuilt, { dns: DNS }), 'dataDir'), [{ state: 'fail', advice: /sallyport data compile/ }])
})

t.test('a key that is named is among the files, and a name that is not known is no address', async (t) => {
  const config = await soundConfig(t)
  mkdirSync(String(config.dataDir))
  const signingKey = join(String(config.dataDir), '../key.pem')
  writeFileSync(signingKey, '')
  chmodSync(signingKey, 0o644)
  const findings = await doctor({ ...config, listen: 'none.invalid:8080', provenance: { signingKey } }, { dns: DNS })
  t.match(
    findings.filter(({ found }) => /may be read by others/.test(found)),
    [{ check: 'files', path: ['provenance', 'signingKey'] }],
  )
  t.match(of(findings, 'listeners')[0], {
    state: 'fail',
    found: /none\.invalid:8080 has a name that (?:is not known|cannot be looked up now)\.$/,
  })
})

t.test('a clock that is behind, data that is old, and names that are not answered', async (t) => {
  const folder = t.testdir()
  const config = { ...(await soundConfig(t)), ...madeConfig(folder) }
  await (await open(config)).close()
  const behind = await doctor(config, { dns: createFakeDns({}), clock: { now: () => Date.UTC(2020, 0, 1) } })
  t.match(of(behind, 'clock'), [{ state: 'fail', found: /^It is 2020-01-01T\S+ here, and there is data of 20\d\d-/ }])
  t.match(of(behind, 'dns'), [{ state: /warn|fail/, advice: /dns\.servers/ }])
  const later = await doctor(config, { dns: DNS, clock: { now: () => Date.UTC(2050, 0, 1) } })
  t.match(of(later, 'data'), [{ state: 'warn', found: /past their age: /, advice: /sallyport data update/ }])
  const silent = { ...config, dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 } }
  t.match(of(await doctor(silent), 'dns'), [{ state: 'fail', found: /^No answer from 127\.0\.0\.1:9 within 50 ms: / }])
})

t.test('listeners that are taken, forbidden or elsewhere; trust that says nothing', async (t) => {
  const other = await answering(t, 'something else')
  const config = await soundConfig(t)
  const listeners = async (more: ConfigInput) => of(await doctor({ ...config, ...more }, { dns: DNS }), 'listeners')
  t.match(await listeners({ listen: other, admin: other }), [
    { state: 'fail', found: /^listen: \S+ is taken by another program\.$/ },
    { state: 'fail', found: /^admin: \S+ is taken by another program\.$/ },
  ])
  const ours = await answering(t, '{"status":"ok"}')
  t.match(
    await listeners({ listen: other, admin: ours }),
    [
      { state: 'fail', found: /^listen: \S+ is taken by another program\.$/ },
      { state: 'ok', found: /^admin: \S+ is in use, and a Sallyport runs here\.$/ },
    ],
    'a gate runs, and this is none of its listeners',
  )
  const gate = await answering(t, '{"error":"invalid_request","message":"-","details":{"requestId":"-"}}')
  t.match(
    await listeners({ listen: gate, http: other, admin: ours }),
    [{ state: 'ok' }, { state: 'fail', found: /^http: \S+ is taken by another program\.$/ }, { state: 'ok' }],
    'nor is this its plain one',
  )
  t.match(await listeners({ listen: '192.0.2.1:80' }), [
    { state: 'fail', found: /is not an address of this machine/ },
    {},
  ])
  t.match(await listeners({ admin: '0.0.0.0:0' }), [
    { state: 'ok' },
    { state: 'ok' },
    { state: 'warn', found: /from outside/ },
  ])
  const trust = async (more: ConfigInput) => of(await doctor({ ...config, ...more }, { dns: DNS }), 'trust')
  t.match(await trust({ trustProxy: [] }), [{ state: 'warn', advice: /trustProxy: \[loopback\]/ }])
  t.match(await trust({ trustProxy: [], listen: '0.0.0.0:0' }), [{ state: 'ok' }])
  t.match(await trust({ trustProxy: [], listen: '0.0.0.0:0', clientHeader: 'cf-connecting-ip' }), [{ state: 'warn' }])
})

t.test('the mirror is asked, and what keeps feeds away is named', async (t) => {
  const mirror = await openFeedServer(t)
  const config = await soundConfig(t)
  const feeds = async (net: ConfigInput['net']) => {
    const data = { ...config.data, mirror: `${mirror.origin}/lists` }
    return of(await doctor({ ...config, data, net }, { dns: DNS }), 'feeds')
  }
  t.match(await feeds({ allowPrivate: ['127.0.0.1/32'] }), [{ state: 'ok', found: /^The mirror \S+ answers/ }, {}])
  t.match(await feeds({}), [{ state: 'fail', found: /is not a public address\.$/, advice: /net\.allowPrivate/ }, {}])
})

t.test('files that the configuration names are read, as a start reads them', async (t) => {
  const config = await soundConfig(t)
  const folder = join(String(config.dataDir), '../named')
  mkdirSync(folder)
  const stars = `User-agent: *\n${Array.from({ length: 2_001 }, (_, at) => `Disallow: /*${at}*x\n`).join('')}`
  const texts = {
    'stars.txt': stars,
    'page.html': '{{title}}',
    'empty.html': '',
    'bad.yaml': '[',
    'open.pem': 'no key',
    file: '',
    'list.txt': '192.0.2.1',
    'saved.html': '<!doctype html><html></html>',
    'list.bin': '192.0.2.1\u0000',
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  chmodSync(join(folder, 'open.pem'), 0o644)
  symlinkSync(join(folder, 'nowhere'), join(folder, 'gone'))
  symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
  execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')])
  const at = (name: string) => join(folder, name)
  const files = async (more: ConfigInput) => of(await doctor({ ...config, ...more }, { dns: DNS }), 'files')
  t.match(await files({}), [{ state: 'ok', found: 'The configuration names none beside data and certificates.' }])
  const lists = { mine: { file: at('list.txt') } }
  const good = { refusal: { template: at('page.html') }, lists, log: { file: at('new/decisions.log') } }
  t.match(await files(good), [{ state: 'ok', found: '3 of 3 can be used.' }])
  t.notOk(existsSync(at('new')), 'and none is made')
  const bad: readonly (readonly [ConfigInput, string, RegExp])[] = [
    [{ refusal: { template: at('none.html') } }, 'refusal.template', /none\.html does not exist\.$/],
    [{ refusal: { template: at('empty.html') } }, 'refusal.template', /empty\.html is empty\.$/],
    [{ refusal: { template: '/dev/zero' } }, 'refusal.template', /is not a regular file\.$/],
    [{ provenance: { policy: at('bad.yaml') } }, 'provenance.policy', /bad\.yaml:1: \S/],
    [{ provenance: { signingKey: at('open.pem') } }, 'provenance.signingKey', /may be read by others/],
    [{ provenance: { signingKey: at('none.pem') } }, 'provenance.signingKey', /is not there\.$/],
    [{ provenance: { signingKey: at('pipe') } }, 'provenance.signingKey', /pipe is not a regular file\.$/],
    [{ robots: { file: at('none.txt') } }, 'robots.file', /none\.txt is not there\.$/],
    [{ robots: { file: '/dev/zero' } }, 'robots.file', /is not a regular file\.$/],
    [{ robots: { file: at('stars.txt') } }, 'robots.file', /has more than 2000 rules with a star within\.$/],
    [{ log: { file: folder } }, 'log.file', /is a folder\.$/],
    [{ log: { file: at('file/x.log') } }, 'log.file', /file is not a folder\.$/],
    [{ log: { file: at('file/deep/x.log') } }, 'log.file', /file is not a folder\.$/],
    [{ log: { file: at('loop/x.log') } }, 'log.file', /x\.log leads through a link in a circle\.$/],
    [{ refusal: { template: at('file/deep/x.html') } }, 'refusal.template', /x\.html does not exist\.$/],
    [{ log: { file: '/proc/sallyport/x.log' } }, 'log.file', /is among the files of the kernel\.$/],
    [{ log: { file: `${at('logs')}/` } }, 'log.file', /logs\/ is a folder\.$/],
    [{ log: { file: at('gone/x.log') } }, 'log.file', /x\.log leads through a link to nothing\.$/],
    [{ lists: { mine: { file: at('saved.html') } } }, 'lists.mine.file', /saved\.html \S/],
    [{ lists: { mine: { file: at('list.bin') } } }, 'lists.mine.file', /list\.bin is binary/],
    [{ refusal: { template: '/proc/version' } }, 'refusal.template', /is among the files of the kernel\.$/],
    [{ robots: { file: '/proc/version' } }, 'robots.file', /is among the files of the kernel\.$/],
    [{ provenance: { signingKey: '/proc/version' } }, 'provenance.signingKey', /is among the files of the kernel\.$/],
    [{ provenance: { signingKey: 'env:SALLYPORT_FAULT_UNSET' } }, 'provenance.signingKey', /_UNSET is not set\.$/],
    [{ provenance: { signingKey: 'env:PATH' } }, 'provenance.signingKey', /env:PATH is not a private key/],
  ]
  for (const [more, key, found] of bad) {
    const [only, ...others] = await files(more)
    t.match(only, { state: 'fail', found, advice: /\S/ })
    t.equal(only?.path?.join('.'), key)
    t.same(others, [])
  }
  const sources = { ...config.data?.sources, mine: { url: `file://${at('none.txt')}` } }
  t.match(await files({ data: { ...config.data, sources } }), [{ state: 'warn', found: /none\.txt does not exist\.$/ }])
  t.match(await files({ log: { file: at('pipe') } }), [
    { state: 'warn', found: /pipe is a pipe\.$/, advice: /reads it/ },
  ])
  for (const dataDir of ['/proc/sallyport/x', '/sys/x', '/dev/x']) {
    t.match(of(await doctor({ ...config, dataDir }, { dns: DNS }), 'dataDir'), [
      { state: 'fail', found: /kernel|devices/ },
    ])
  }
  t.match(of(await doctor({ ...config, dataDir: at('gone') }, { dns: DNS }), 'dataDir'), [
    { state: 'fail', found: /gone leads through a link to nothing\.$/ },
  ])
  for (const dataDir of [at('file/x'), at('file/x/deep')]) {
    t.match(of(await doctor({ ...config, dataDir }, { dns: DNS }), 'dataDir'), [
      { state: 'fail', found: `${at('file')} is not a folder.`, path: ['dataDir'] },
    ])
  }
  for (const [store, found] of [
    [at('file/state.db'), /file is not a folder\.$/],
    [at('file/deep/state.db'), /file is not a folder\.$/],
    [at('gone/state.db'), /leads through a link to nothing\.$/],
    [folder, /is a folder\.$/],
    [at('pipe'), /pipe is not a regular file\.$/],
    ['/dev/zero', /zero is not a regular file\.$/],
  ] as const) {
    const said = of(await doctor({ ...config, store: `sqlite:${store}` }, { dns: DNS }), 'store')
    t.match(said, [{ state: 'fail', found, path: ['store'] }])
  }
})

t.test('a limit of failures where a server in front answers: doctor and config check say what it counts', async (t) => {
  const policy = { limits: ['login-guard' as const] }
  const config = { ...(await soundConfig(t)), policy }
  t.match(of(await doctor(config, { dns: DNS }), 'policy'), [{ state: 'ok' }])
  const asked = { ...config, trustProxy: ['loopback'], forwardAuth: 'nginx' as const }
  const said = { state: 'warn', found: /"login-guard-refused" counts every request, not failures, because forwardAuth/ }
  t.match(of(await doctor(asked, { dns: DNS }), 'policy'), [said])
  const paged = { ...asked, policy: { preset: 'stop-scrapers' as const } }
  const pages =
    /"mail-programs-pages-prefix" counts every request but those for static files, not pages, because forwardAuth/
  t.match(of(await doctor(paged, { dns: DNS }), 'policy'), [{ state: 'warn', found: pages }])
})

t.test('rules that undo each other are named', async (t) => {
  const match = { purpose: ['training' as const] }
  const rules = [
    { id: 'few', match, concurrent: 1, action: 'throttle' as const },
    { id: 'none', match, action: 'block' as const },
  ]
  const config = { ...(await soundConfig(t)), policy: { preset: 'observe' as const, rules } }
  t.match(of(await doctor(config, { dns: DNS }), 'policy'), [
    { state: 'warn', found: /^rule "few": the rule "none" after it blocks/, advice: /then: allow/ },
  ])
})

t.test('a rule that compares a list with what it does not hold is named', async (t) => {
  const rules = [
    { id: 'names', match: { userAgent: ['list:hosts'] }, action: 'block' as const },
    { id: 'systems', match: { path: ['/x'], not: { asn: ['list:mixed'] } }, action: 'block' as const },
    { id: 'fits', match: { address: ['list:hosts', 'list:mixed'], referer: ['list:mixed'] }, action: 'block' as const },
  ]
  const lists = { hosts: ['5.9.10.20', '5.9.11.0/24'], mixed: ['5.9.12.1', '*Bot*'], none: [] }
  const config = { ...(await soundConfig(t)), lists, policy: { preset: 'observe' as const, rules } }
  t.match(of(await doctor(config, { dns: DNS }), 'files'), [
    {
      state: 'warn',
      found: /^The rule "names" compares userAgent with the list hosts, which has 2 addresses and no pat/,
    },
    {
      state: 'warn',
      found: /"systems" compares asn with the list mixed, which has 1 address and 1 pattern and no sys/,
    },
  ])
})

t.test('faults of what a configuration names are faults at its lines, and what may pass is a warning', async (t) => {
  const { listen, admin, dataDir } = await soundConfig(t)
  const port = await freePort()
  const file = join(String(dataDir), '../sallyport.yaml')
  const lines = [
    `listen: ${listen}`,
    `admin: ${admin}`,
    `dataDir: ${dataDir}`,
    'refusal: { template: /no/page.html }',
    `redis: redis://127.0.0.1:${port}`,
    `store: postgres://user:s3cret@127.0.0.1:${port}/x`,
    'log: { file: /sys/x/y.log }',
  ]
  writeFileSync(file, lines.join('\n'))
  const { errors, warnings } = await examineNamed(readConfigFrom({ file }), { dns: DNS })
  t.match(errors, [
    { key: 'refusal.template', place: { line: 4 }, message: '/no/page.html does not exist' },
    { key: 'log.file', place: { line: 7 }, message: '/sys/x/y.log is among the files of the kernel' },
  ])
  t.match(warnings, [
    { key: 'store', place: { line: 6 }, message: /^127\.0\.0\.1:\d+ cannot be used: [^\n]+$/ },
    { key: 'redis', place: { line: 5 }, message: /^127\.0\.0\.1:\d+ cannot be used: [^\n]+$/ },
  ])
  t.same([errors.length, warnings.length], [2, 2])
  t.notMatch(JSON.stringify({ errors, warnings }), /s3cret|\n/)
  const taken = await answering(t, 'something else')
  writeFileSync(file, `listen: ${taken}\nadmin: ${admin}\ndataDir: ${dataDir}\n`)
  t.match(await examineNamed(readConfigFrom({ file }), { dns: DNS }), {
    errors: [],
    warnings: [{ key: 'listen', place: { line: 1 }, message: /is taken by another program$/ }],
  })
})

t.test('places of notifications are reached, and nothing is sent to them', async (t) => {
  const config = await soundConfig(t)
  let asked = 0
  const hook = createServer(() => asked++)
  const port = await listening(t, hook)
  const gone = await freePort()
  const notify = [
    { url: `http://127.0.0.1:${port}/s3cret`, secret: 'k'.repeat(32) },
    { url: `http://127.0.0.1:${gone}/s3cret`, secret: 'k'.repeat(32) },
  ]
  const permitted = { ...config, notify, net: { allowPrivate: ['127.0.0.0/8'] } }
  const found = of(await doctor(permitted, { dns: DNS }), 'notify')
  t.match(found, [
    { state: 'ok', found: new RegExp(`^127.0.0.1:${port} \\(json\\) can be reached`) },
    { state: 'fail', found: new RegExp(`^127.0.0.1:${gone} \\(json\\) cannot be reached: nothing listens there`) },
  ])
  t.equal(asked, 0)
  t.notMatch(JSON.stringify(found), 's3cret')
  const inside = of(await doctor({ ...config, notify }, { dns: DNS }), 'notify')
  t.match(inside[0], { state: 'fail', found: /127\.0\.0\.1 is not a public address/, advice: /net\.allowPrivate/ })
})
