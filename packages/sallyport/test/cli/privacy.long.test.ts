import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '@sallyport/engine'
import t from 'tap'
import { run, start, workspace } from './command.ts'

const places = (
  out: string,
): readonly { place: string; state: string; entries: readonly unknown[]; reason?: string | undefined }[] =>
  JSON.parse(out).places

t.test("data about an address is exported with the memory of a running service's console", async (t) => {
  const { command, config, folder } = workspace(t, ['demo: true', 'trustProxy: [loopback]'])
  const proxy = start(t, ['proxy', '--config', config, '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'])
  await proxy.says('with the token in')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const admin = /Console at http:\/\/([^/]+)/.exec(proxy.err())?.[1] ?? ''
  await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.7' } }).then((answer) => answer.text())
  await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.70' } }).then((answer) => answer.text())
  process.env['SALLYPORT_ADMIN'] = admin
  t.teardown(() => Reflect.deleteProperty(process.env, 'SALLYPORT_ADMIN'))

  const exported = await run('privacy', 'export', '203.0.113.7', '--config', config, '--json')
  t.equal(exported.code, 0, exported.err)
  const history = places(exported.out).find(({ place }) => place === 'console history')
  t.match(history, { state: 'read', where: admin })
  t.match(history?.entries, [{ client: '203.0.113.7', host: String }])
  t.match((await command('privacy', 'export', '203.0.113.7')).out, /console history +read +1/)

  t.match(await command('privacy', 'erase', '203.0.113.7'), { code: 1, err: /Confirm with --yes/ })
  const erased = await run('privacy', 'erase', '203.0.113.7', '--config', config, '--yes', '--json')
  t.equal(erased.code, 0, erased.err)
  t.match(
    places(erased.out).find(({ place }) => place === 'console history'),
    { state: 'kept' },
  )

  const trail = readFileSync(join(folder, 'data', 'audit.log'), 'utf8')
  t.match(trail, /"audit":"privacy export".*"complete":true/)
  t.match(trail, /"audit":"privacy erase"/)
  t.notMatch(trail, /203\.0\.113\.7/, 'the trail outlives what it is about')
})

t.test('what is remembered of a user is exported and erased, by the id or by the identifier', async (t) => {
  const { command, folder } = workspace(t, ['net: { outbound: false }'])
  const dataDir = join(folder, 'data')
  const sallyport = await open({ dataDir, data: { refresh: false }, net: { outbound: false } }, { onNotice() {} })
  const visitor = { address: '81.130.10.20', headers: {} }
  const login = { event: 'login', outcome: 'success', visitor }
  await sallyport.accounts.assessDescribed({ ...login, user: '17', identifier: 'ada@shop.example' })
  await sallyport.accounts.assessDescribed({ ...login, identifier: 'bob@shop.example' })
  await sallyport.close()
  for (const user of ['17', 'Bob@shop.example']) {
    const entries = async () => places((await command('privacy', 'export', '--user', user, '--json')).out)[0]?.entries
    t.match(await entries(), [{ networks: [[/./]], countries: [['GB']] }], user)
    const { out } = await command('privacy', 'erase', '--user', user, '--yes')
    t.match(out, /^logins +erased +1 /m)
    t.strictSame(await entries(), [])
  }
  t.notMatch(readFileSync(join(dataDir, 'audit.log'), 'utf8'), /shop\.example/, 'the trail names nobody')
})

t.test('a place that does not answer is named, and the command fails', async (t) => {
  const { command, config } = workspace(t, ['store: postgres://nobody@127.0.0.1:1/none', 'console: { enabled: false }'])
  const { code, out, err } = await run('privacy', 'export', '203.0.113.7', '--config', config, '--json')
  t.equal(code, 1)
  t.match(err, /some stores did not respond/)
  t.match(JSON.parse(out), { complete: false })
  t.match(
    places(out).find(({ place }) => place === 'ledger'),
    { state: 'unreachable', reason: String },
  )
  t.match(await command('privacy', 'export', 'me'), { code: 2, err: /'me' is invalid/ })
})
