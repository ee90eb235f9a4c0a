import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openFeedServer } from '#datasets/testing'
import { type ConfigInput, doctor, open, readSources } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'

const BLOCKED = { rules: [{ id: 'listed', match: { address: ['list:bad'] }, action: 'block' as const }] }

function makeConfig(folder: string, lists: NonNullable<ConfigInput['lists']>): ConfigInput {
  return {
    ...madeConfig(folder),
    lists,
    policy: BLOCKED,
    net: { allowPrivate: ['127.0.0.1/32'] },
    dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 },
  }
}

async function opened(t: Test, config: ConfigInput) {
  const notices: string[] = []
  const sallyport = await open(config, {
    onNotice: (code, message) => code === 'SALLYPORT_LIST' && void notices.push(message),
  })
  t.teardown(() => sallyport.close())
  const of = (peer: string) => sallyport.decide(requestFrom(peer)).action
  return { sallyport, notices, of }
}

/** Lists follow their files by looking at them: waits until they have. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(20)
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `198.51.100.${index}\n`).join('')

t.test('a list of a file holds at the next request once the file has changed, in mounts too', async (t) => {
  const folder = t.testdir({ 'bad.txt': '# mine\n198.51.100.7 ; why\n' })
  const file = join(folder, 'bad.txt')
  const { sallyport, notices, of } = await opened(t, makeConfig(folder, { bad: { file } }))
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

t.test('a file that is lost, emptied, binary or too long leaves the last list in use until a reload', async (t) => {
  const folder = t.testdir({ 'bad.txt': lines(100) })
  const file = join(folder, 'bad.txt')
  const config = makeConfig(folder, { bad: { file } })
  const { sallyport, notices, of } = await opened(t, config)
  const rows = [
    ['', /bad\.txt has 0 entries, but had 100 before\. The last copy stays/],
    [lines(10), /has 10 entries, but had 100 before/],
    ['\u0000\u0001\u0002', /is binary/],
    ['<!DOCTYPE html><title>Login</title>', /is a web page/],
    ['1.2.3\n999.1.1.1\n', /has 2 invalid lines, first at line 1/],
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
  const { sallyport, of } = await opened(t, base)
  t.equal(of('198.51.100.1'), 'block')
  const next = { ...base, lists: { bad: ['203.0.113.0/24'], more: ['AS64500'] } }
  t.same((await sallyport.reload(next)).changed, ['lists'])
  t.same([of('198.51.100.1'), of('203.0.113.1')], ['allow', 'block'])
  await t.rejects(sallyport.reload({ ...base, lists: { more: [] } }), {
    code: 'invalid_policy',
    message: /no list "bad"/,
  })
  await t.rejects(sallyport.reload({ ...base, lists: { bad: ['300.1.1.1'] } }), { code: 'invalid_config' })
  t.equal(of('203.0.113.1'), 'block', 'a reload that fails changes nothing')
})

t.test('a list of a URL is fetched, kept over a restart, and not asked for before its time', async (t) => {
  const folder = t.testdir()
  const server = await openFeedServer(t)
  server.serve('/bad?key=s3cret', JSON.stringify([{ decisions: [{ scope: 'Ip', value: '198.51.100.7' }] }]))
  const config = makeConfig(folder, { bad: { url: server.url('/bad?key=s3cret'), refresh: '1m' } })
  const copy = join(folder, 'state/lists/bad')
  {
    const { sallyport, notices, of } = await opened(t, config)
    t.same([of('198.51.100.7'), notices], ['block', []])
    t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'loaded', entries: 1 })
    await sallyport.close()
  }
  t.notMatch(readFileSync(copy, 'utf8'), /s3cret/)
  t.equal(server.asked.length, 1)
  server.serve('/bad?key=s3cret', '198.51.100.7\n203.0.113.1\n')
  const { of, notices } = await opened(t, config)
  t.same([of('198.51.100.7'), server.asked.length], ['block', 1], 'the copy is young')

  const old = new Date(Date.now() - 3_600_000)
  utimesSync(copy, old, old)
  await until(() => of('203.0.113.1') === 'block')
  t.equal(server.asked.length, 2)

  server.serve('/bad?key=s3cret', '')
  utimesSync(copy, old, old)
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
  const one = await opened(t, config)
  const other = await opened(t, config)
  t.equal(server.asked.length, 1)
  server.serve('/bad', '198.51.100.7\n198.51.100.8\n')
  const old = new Date(Date.now() - 3_600_000)
  utimesSync(join(folder, 'state/lists/bad'), old, old)
  await until(() => one.of('198.51.100.8') === 'block' && other.of('198.51.100.8') === 'block')
  t.equal(server.asked.length, 2)
})

t.test('a URL leads outside alone; what was never read is not known', async (t) => {
  const folder = t.testdir()
  const server = await openFeedServer(t)
  server.serve('/away', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.2:9/list' }).end())
  const config = makeConfig(folder, { bad: { url: server.url('/away') } })
  const rules = [
    { id: 'listed', match: { address: ['list:bad'] }, action: 'block' as const },
    { id: 'others', match: { not: { address: ['list:bad'] } }, action: 'flag' as const },
  ]
  const { sallyport, notices, of } = await opened(t, { ...config, policy: { rules } })
  t.match(
    notices[0],
    /list bad: the response of its URL could not be fetched: 127\.0\.0\.2 is not a public address\. The list is empty/,
  )
  t.equal(of('198.51.100.7'), 'allow', 'neither within nor outside of it')
  t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'absent', reason: /not a public address/ })
  mkdirSync(join(folder, 'x'))
  await t.rejects(open({ ...config, lists: { bad: { file: join(folder, 'x') } } }), {
    message: /x is a folder$/m,
  })
  for (const device of ['/dev/zero', '/proc/version'].filter((path) => existsSync(path)))
    await t.rejects(open({ ...config, lists: { bad: { file: device } } }), {
      code: 'invalid_config',
      message: /(?:zero is not a regular file|version is in a file system of the kernel)$/m,
    })
  await t.rejects(open({ ...config, lists: { bad: { file: join(folder, 'no') } } }), { message: /does not exist/ })
  await t.rejects(open({ ...config, lists: { bad: {} as never } }), {
    code: 'invalid_config',
    message: /have file, url, or crowdsec/,
  })
  await t.rejects(open({ ...config, lists: { 'a/b': [] } }), { code: 'invalid_config' })
})

t.test('a URL that does not answer holds up no other list, and no end', async (t) => {
  const folder = t.testdir({ 'bad.txt': '198.51.100.7\n' })
  const server = await openFeedServer(t)
  server.serve('/slow', '192.0.2.1\n')
  const file = join(folder, 'bad.txt')
  const config = makeConfig(folder, { slow: { url: server.url('/slow'), refresh: '1m' }, bad: { file } })
  const { sallyport, of } = await opened(t, config)
  const asked = new Promise<void>((resolve) => server.serve('/slow', () => resolve()))
  const old = new Date(Date.now() - 3_600_000)
  utimesSync(join(folder, 'state/lists/slow'), old, old)
  await asked
  writeFileSync(file, '203.0.113.1\n')
  await until(() => of('203.0.113.1') === 'block')
  const begun = performance.now()
  await sallyport.close()
  t.ok(performance.now() - begun < 10_000)
})

t.test('no list from outside closes the door for everybody, nor for the house', async (t) => {
  const text =
    '0.0.0.0/0\n::/0\n0.0.0.0/1\n2000::/15\n10.0.0.0/8\n127.0.0.1\nfd00::/8\n192.0.0.0/8\n198.51.100.0/24\n*\n'
  const folder = t.testdir({ 'bad.txt': text })
  const file = join(folder, 'bad.txt')
  const server = await openFeedServer(t)
  server.serve('/bad', text)
  for (const bad of [{ file }, { url: server.url('/bad') }]) {
    const { sallyport, notices, of } = await opened(t, makeConfig(folder, { bad }))
    t.same([of('198.51.100.7'), of('192.0.7.7')], ['block', 'block'])
    for (const peer of ['23.1.2.3', '2001:db8::1']) t.not(of(peer), 'block', peer)
    t.same([of('10.0.0.1'), of('127.0.0.1'), of('192.168.1.1'), of('fd00::1')], Array(4).fill('allow'), 'the house')
    t.same(notices.length, 1)
    t.match(
      notices[0],
      /^list bad: skipped 0\.0\.0\.0\/0, ::\/0, 0\.0\.0\.0\/1, 2000::\/15 and 4 more: wider .*lists\.bad\.wide: true/,
    )
    t.match(sallyport.sources().at(-1), { id: 'list:bad', state: 'loaded', entries: 2, left: 8 })
    await sallyport.close()
    const findings = await doctor(makeConfig(folder, { bad }))
    t.match(
      findings.filter(({ path }) => path?.[0] === 'lists'),
      [
        {
          check: 'files',
          state: 'warn',
          found: /^list bad: skipped 0\.0\.0\.0\/0, ::\/0, .* and 4 more: wider/,
        },
      ],
    )
    const wide = await opened(t, makeConfig(folder, { bad: { ...bad, wide: true } }))
    t.same([wide.of('23.1.2.3'), wide.of('2001:4860::1'), wide.of('10.0.0.1')], ['block', 'block', 'block'])
    t.same(wide.notices, [])
    await wide.sallyport.close()
  }
})

t.test(
  'narrow prefixes that are everybody together are left out, and the allowlist passes whatever a list holds',
  async (t) => {
    const halves = Array.from({ length: 256 }, (_, first) => `${first}.0.0.0/8\n`).join('')
    const folder = t.testdir({ 'bad.txt': halves })
    const config = makeConfig(folder, { bad: { file: join(folder, 'bad.txt') } })
    const { of, notices } = await opened(t, config)
    t.not(of('23.1.2.3'), 'block')
    t.match(notices[0], /all 2\d\d addresses, together most of IPv4/)
    writeFileSync(join(folder, 'bad.txt'), '198.51.100.0/24\n')
    const allowlist = { ...config, policy: { ...BLOCKED, allowlist: ['198.51.100.7'] } }
    const other = await opened(t, allowlist)
    t.same([other.of('198.51.100.7'), other.of('198.51.100.8')], ['allow', 'block'])
  },
)

t.test('half of the Internet is everybody too, and an entry of the configuration says so at once', async (t) => {
  const block = (first: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${first}${at.toString(16)}::/16\n`)
  const half4 = Array.from({ length: 111 }, (_, first) => `${first + 1}.0.0.0/8\n`).join('')
  const half6 = ['240', '260', '280', '2a0'].flatMap((first) => block(first, 16)).join('')
  const folder = t.testdir({ 'bad.txt': '198.51.100.7\n23.1.2.3\n' })
  const file = join(folder, 'bad.txt')
  for (const [half, probe] of [
    [half4, '23.9.9.9'],
    [half6, '2a01:4f8::1'],
  ] as const) {
    writeFileSync(file, '198.51.100.7\n')
    const { of, sallyport, notices } = await opened(t, makeConfig(folder, { bad: { file } }))
    writeFileSync(file, half)
    await until(() => notices.length > 0)
    t.not(of(probe), 'block', 'and the last good copy stays')
    t.equal(of('198.51.100.7'), 'block')
    t.match(sallyport.sources().at(-1), { id: 'list:bad', error: /entr.*, but had 1/, date: /^20/ })
    await sallyport.close()
  }
  for (const bad of [['0.0.0.0/0'], ['::/0'], half4.trim().split('\n')]) {
    await t.rejects(opened(t, makeConfig(folder, { bad })), {
      code: 'invalid_config',
      message: /lists\.bad: covers most of IPv[46]/,
    })
  }
})

t.test('a list that became ten times as long is taken at a reload alone', async (t) => {
  const folder = t.testdir({ 'bad.txt': lines(10) })
  const file = join(folder, 'bad.txt')
  const config = makeConfig(folder, { bad: { file } })
  const { sallyport, notices, of } = await opened(t, config)
  writeFileSync(file, lines(100))
  await until(() => notices.length > 0)
  t.match(notices[0], /bad\.txt has 100 entries, but had 10 before\. The last copy stays until a reload/)
  t.equal(of('198.51.100.50'), 'allow')
  await sallyport.reload(config)
  t.equal(of('198.51.100.50'), 'block')
})
