import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openFeedServer } from '#datasets/testing'
import { type ConfigInput, doctor, open, readSources } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { until } from '../../open/opened.ts'
import { requestFrom } from '../../open/requests.ts'
import { openListed } from './listed.ts'

const BLOCKED = { rules: [{ id: 'listed', match: { address: ['list:bad'] }, action: 'block' as const }] }

function makeConfig(folder: string, lists: NonNullable<ConfigInput['lists']>): ConfigInput {
  const net = { allowPrivate: ['127.0.0.1/32'] }
  return { ...madeConfig(folder), lists, policy: BLOCKED, net, dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 } }
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `198.51.${100 + (at >> 8)}.${at & 255}\n`).join('')

/** Makes a copy an hour old, so that its list is asked for again. */
function age(copy: string): void {
  const old = new Date(Date.now() - 3_600_000)
  utimesSync(copy, old, old)
}

t.test('a list of a file holds at the next request once the file has changed, in mounts too', async (t) => {
  const folder = t.testdir({ 'bad.txt': '# mine\n198.51.100.7 ; why\n' })
  const file = join(folder, 'bad.txt')
  const { sallyport, notices, of } = await openListed(t, makeConfig(folder, { bad: { file } }))
  const mount = sallyport.decider({ policy: { rules: [{ ...BLOCKED.rules[0], id: 'mount' }] as never } })
  t.same([of('198.51.100.7'), of('198.51.100.8')], ['block', 'allow'])

  writeFileSync(file, lines(20))
  await until(() => of('198.51.100.8') === 'block')
  t.equal(mount.decide(requestFrom('198.51.100.8')).action, 'block', 'a policy of a mount is not compiled again')

  writeFileSync(`${file}.new`, '203.0.113.1\n203.0.113.2\n198.51.100.9\n')
  renameSync(`${file}.new`, file)
  await until(() => of('203.0.113.1') === 'block')
  t.equal(of('198.51.100.8'), 'allow')
  t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'loaded', entries: 3 })
  t.same(notices, [])
})

t.test('a file that is lost, emptied, binary or far too long leaves the last list until a reload', async (t) => {
  const folder = t.testdir({ 'bad.txt': lines(100) })
  const file = join(folder, 'bad.txt')
  const config = makeConfig(folder, { bad: { file } })
  const { sallyport, notices, of } = await openListed(t, config)
  const rows = [
    ['', /bad\.txt has 0 entries, but had 100 before\. The last copy stays/],
    [lines(10), /has 10 entries, but had 100 before/],
    [lines(1_000), /has 1,?000 entries, but had 100 before\. The last copy stays until a reload/],
    ['\u0000\u0001\u0002', /is binary/],
    ['#\n'.repeat(17 * 2 ** 20), /is larger than 32 MB/],
  ] as const
  for (const [text, says] of rows) {
    const before = notices.length
    writeFileSync(file, text)
    await until(() => notices.length > before)
    t.match(notices.at(-1), says)
    t.equal(of('198.51.100.50'), 'block', String(says))
  }
  rmSync(file)
  await until(() => notices.length > rows.length)
  t.match(notices.at(-1), /^list bad: .* does not exist/)
  t.match(sallyport.sources().at(-1), { id: 'list:bad', entries: 100, error: /does not exist/ })
  await t.rejects(sallyport.reload(config), { code: 'invalid_config', message: /lists\.bad\.file: .*does not exist/ })
  t.equal(of('198.51.100.50'), 'block')
  writeFileSync(file, '203.0.113.1\n')
  await sallyport.reload(config)
  t.same([of('198.51.100.50'), of('203.0.113.1')], ['allow', 'block'], 'a reload takes it as it is')
})

t.test('a reload adds lists, changes them and takes them away', async (t) => {
  const folder = t.testdir()
  const base = makeConfig(folder, { bad: ['198.51.100.0/24'] })
  const { sallyport, of } = await openListed(t, base)
  t.equal(of('198.51.100.1'), 'block')
  const next = { ...base, lists: { bad: ['203.0.113.0/24'], more: ['AS64500'] } }
  t.same((await sallyport.reload(next)).changed, ['lists'])
  t.same([of('198.51.100.1'), of('203.0.113.1')], ['allow', 'block'])
  const unlisted = { code: 'invalid_policy', message: /no list "bad"/ }
  await t.rejects(sallyport.reload({ ...base, lists: { more: [] } }), unlisted)
  await t.rejects(sallyport.reload({ ...base, lists: { bad: ['300.1.1.1'] } }), { code: 'invalid_config' })
  t.equal(of('203.0.113.1'), 'block', 'a reload that fails changes nothing')
})

t.test('a list of a URL is fetched, kept over a restart, and not asked for before its time', async (t) => {
  const folder = t.testdir()
  const server = await openFeedServer(t)
  server.serve('/bad?key=s3cret', JSON.stringify([{ decisions: [{ scope: 'Ip', value: '198.51.100.7' }] }]))
  const config = makeConfig(folder, { bad: { url: server.url('/bad?key=s3cret'), refresh: '1m' } })
  const copy = join(folder, 'state/lists/bad')
  const first = await openListed(t, config)
  t.same([first.of('198.51.100.7'), first.notices], ['block', []])
  t.match(first.sallyport.sources().at(-1), { id: 'list:bad', state: 'loaded', entries: 1 })
  await first.sallyport.close()
  t.notMatch(readFileSync(copy, 'utf8'), /s3cret/)
  t.equal(server.asked.length, 1)
  server.serve('/bad?key=s3cret', '198.51.100.7\n203.0.113.1\n')
  const { of, notices } = await openListed(t, config)
  t.same([of('198.51.100.7'), server.asked.length], ['block', 1], 'the copy is young')

  age(copy)
  await until(() => of('203.0.113.1') === 'block')
  t.equal(server.asked.length, 2)

  server.serve('/bad?key=s3cret', '')
  age(copy)
  await until(() => notices.length > 0)
  t.match(notices[0], /list bad: the response of its URL has 0 entries, but had 2 before\. The last copy stays in use/)
  t.equal(of('203.0.113.1'), 'block')
  const sources = await readSources(config)
  t.match(sources.at(-1), { id: 'list:bad', entries: 2 }, 'for data status')
  t.notMatch(JSON.stringify([notices, sources]), /s3cret/)
})

t.test('processes on one dataDir read the copy that one of them fetched', async (t) => {
  const folder = t.testdir()
  const server = await openFeedServer(t)
  server.serve('/bad', '198.51.100.7\n')
  const config = makeConfig(folder, { bad: { url: server.url('/bad'), refresh: '1m' } })
  const one = await openListed(t, config)
  const other = await openListed(t, config)
  t.equal(server.asked.length, 1)
  server.serve('/bad', '198.51.100.7\n198.51.100.8\n')
  age(join(folder, 'state/lists/bad'))
  await until(() => one.of('198.51.100.8') === 'block' && other.of('198.51.100.8') === 'block')
  t.equal(server.asked.length, 2)
})

t.test('a URL leads outside alone; what was never read is not known', async (t) => {
  const folder = t.testdir()
  const server = await openFeedServer(t)
  server.serve('/away', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.2:9/list' }).end())
  const config = makeConfig(folder, { bad: { url: server.url('/away') } })
  const others = { id: 'others', match: { not: { address: ['list:bad'] } }, action: 'flag' as const }
  const { sallyport, notices, of } = await openListed(t, { ...config, policy: { rules: [...BLOCKED.rules, others] } })
  const away = /the response of its URL could not be fetched: 127\.0\.0\.2 is not a public address\. The list is empty/
  t.match(notices[0], away)
  t.equal(of('198.51.100.7'), 'allow', 'neither within nor outside of it')
  t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'absent', reason: /not a public address/ })
  const code = 'invalid_config'
  await t.rejects(open({ ...config, lists: { bad: {} as never } }), { code, message: /have file, url, or crowdsec/ })
  await t.rejects(open({ ...config, lists: { 'a/b': [] } }), { code })
})

t.test('a URL that does not answer holds up no other list, and no end', async (t) => {
  const folder = t.testdir({ 'bad.txt': '198.51.100.7\n' })
  const server = await openFeedServer(t)
  server.serve('/slow', '192.0.2.1\n')
  const file = join(folder, 'bad.txt')
  const config = makeConfig(folder, { slow: { url: server.url('/slow'), refresh: '1m' }, bad: { file } })
  const { sallyport, of } = await openListed(t, config)
  const asked = new Promise<void>((resolve) => server.serve('/slow', () => resolve()))
  age(join(folder, 'state/lists/slow'))
  await asked
  writeFileSync(file, '203.0.113.1\n')
  await until(() => of('203.0.113.1') === 'block')
  const begun = performance.now()
  await sallyport.close()
  t.ok(performance.now() - begun < 10_000)
})

t.test('no list from outside closes the door for everybody, nor for the house', async (t) => {
  const wide = ['0.0.0.0/0', '::/0', '0.0.0.0/1', '2000::/15', '10.0.0.0/8', '127.0.0.1', 'fd00::/8', '*']
  const folder = t.testdir({ 'bad.txt': [...wide, '192.0.0.0/8', '198.51.100.0/24', ''].join('\n') })
  const file = join(folder, 'bad.txt')
  const server = await openFeedServer(t)
  server.serve('/bad', readFileSync(file, 'utf8'))
  const skipped = /^list bad: skipped 0\.0\.0\.0\/0, ::\/0, 0\.0\.0\.0\/1, 2000::\/15 and 4 more: wider /
  for (const bad of [{ file }, { url: server.url('/bad') }]) {
    const { sallyport, notices, of } = await openListed(t, makeConfig(folder, { bad }))
    t.same(['198.51.100.7', '192.0.7.7'].map(of), ['block', 'block'])
    for (const peer of ['23.1.2.3', '2001:db8::1']) t.not(of(peer), 'block', peer)
    t.same(['10.0.0.1', '127.0.0.1', '192.168.1.1', 'fd00::1'].map(of), Array(4).fill('allow'), 'the house')
    t.equal(notices.length, 1)
    for (const says of [skipped, /lists\.bad\.wide: true/]) t.match(notices[0], says)
    t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'loaded', entries: 2, left: 8 })
    await sallyport.close()
    const findings = (await doctor(makeConfig(folder, { bad }))).filter(({ path }) => path?.[0] === 'lists')
    t.match(findings, [{ check: 'files', state: 'warn', found: skipped }])
    const all = await openListed(t, makeConfig(folder, { bad: { ...bad, wide: true } }))
    t.same(['23.1.2.3', '2001:4860::1', '10.0.0.1'].map(all.of), ['block', 'block', 'block'])
    t.same(all.notices, [])
    await all.sallyport.close()
  }
})

t.test('narrow prefixes that are everybody together are left out, and the allowlist passes all', async (t) => {
  const folder = t.testdir({ 'bad.txt': Array.from({ length: 256 }, (_, first) => `${first}.0.0.0/8\n`).join('') })
  const config = makeConfig(folder, { bad: { file: join(folder, 'bad.txt') } })
  const { of, notices } = await openListed(t, config)
  t.not(of('23.1.2.3'), 'block')
  t.match(notices[0], /all 2\d\d addresses, together most of IPv4/)
  writeFileSync(join(folder, 'bad.txt'), '198.51.100.0/24\n')
  const other = await openListed(t, { ...config, policy: { ...BLOCKED, allowlist: ['198.51.100.7'] } })
  t.same(['198.51.100.7', '198.51.100.8'].map(other.of), ['allow', 'block'])
})

t.test('half of the Internet is everybody too, and an entry of the configuration says so at once', async (t) => {
  const half4 = Array.from({ length: 111 }, (_, first) => `${first + 1}.0.0.0/8\n`).join('')
  const half6 = ['240', '260', '280', '2a0']
    .flatMap((first) => Array.from({ length: 16 }, (_, at) => `${first}${at.toString(16)}::/16\n`))
    .join('')
  const folder = t.testdir({ 'bad.txt': '198.51.100.7\n23.1.2.3\n' })
  const file = join(folder, 'bad.txt')
  for (const [half, probe] of [
    [half4, '23.9.9.9'],
    [half6, '2a01:4f8::1'],
  ] as const) {
    writeFileSync(file, '198.51.100.7\n')
    const { of, sallyport, notices } = await openListed(t, makeConfig(folder, { bad: { file } }))
    writeFileSync(file, half)
    await until(() => notices.length > 0)
    t.not(of(probe), 'block', 'and the last good copy stays')
    t.equal(of('198.51.100.7'), 'block')
    t.match(sallyport.sources().at(-1), { id: 'list:bad', error: /entr.*, but had 1/, date: /^20/ })
    await sallyport.close()
  }
  for (const bad of [['0.0.0.0/0'], ['::/0'], half4.trim().split('\n')]) {
    const refused = { code: 'invalid_config', message: /lists\.bad: covers most of IPv[46]/ }
    await t.rejects(openListed(t, makeConfig(folder, { bad })), refused)
  }
})
