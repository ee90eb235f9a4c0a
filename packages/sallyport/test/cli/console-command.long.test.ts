import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { serve, visit, workspace } from './command.ts'

const PAGE = { 'x-sallyport-console': '1' }

t.test('the command prints a link by the token file, and the service takes it', async (t) => {
  const { command, object, config, folder } = workspace(t, ['demo: true'])
  const proxy = await serve(t, config)
  const { admin, token } = proxy
  t.equal(statSync(join(folder, 'data', 'console-token')).mode & 0o777, 0o600)
  t.notMatch(proxy.err(), token, 'the token itself is not in what may end in a log')

  const { code, out, err } = await command('console')
  t.equal(code, 0, err)
  t.ok(out.startsWith(`${admin}/#sign-in=link.`), 'the flag named the address')
  t.notMatch(out, token)
  const session = `${admin}/console/api/session`
  const signIn = (link: string) =>
    visit(session, { ...PAGE, authorization: `Link ${/#sign-in=(\S+)/.exec(link)?.[1]}` }, '')
  t.same([(await signIn(out)).status, (await signIn(out)).status], [200, 401])
  const signed = await signIn((await object('console')).url)
  t.match(JSON.parse(signed.text), { role: 'read' })
  const cookie = signed.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? ''
  t.equal((await visit(session, { ...PAGE, cookie }, undefined, 'DELETE')).status, 200)
  await proxy.stop()

  const again = await serve(t, config)
  const health = async (headers: Record<string, string>) =>
    (await visit(`${again.admin}/console/api/health`, headers)).status
  t.equal(await health({ cookie }), 401, 'who signed out stays so after a restart')
  t.equal(await health({ authorization: `Bearer ${token}` }), 200)
})

t.test('without a console bans are lifted by the token for administrators alone', async (t) => {
  const { command, config, folder } = workspace(t, ['demo: true', 'console: { enabled: false }'])
  const { admin, err } = await serve(t, config, [], 'API key')
  t.notMatch(err(), 'Console at')
  const lift = async (headers: Record<string, string>) =>
    (await visit(`${admin}/bans/abc`, headers, undefined, 'DELETE')).status
  t.equal(await lift({}), 401)
  const token = readFileSync(join(folder, 'data', 'console-token'), 'utf8').trim()
  t.equal(await lift({ authorization: `Bearer ${token}` }), 404)
  t.match(await command('console'), { code: 2, err: /console\.enabled is false/ })
})

t.test('where the console has no link, it says why', async (t) => {
  t.match(await workspace(t).command('console'), {
    code: 2,
    err: /No link can be created: \S*console-token does not exist yet; the first start creates it\.$/m,
  })
  for (const text of ['short', 'aaaaaaaaaaaaaaaaaaaaaaaa', '1212121212121212']) {
    const { command } = workspace(t, [`console: { adminToken: "${text}" }`])
    t.match(await command('console'), { code: 2, err: /console\.adminToken: must / }, text)
  }
  const { command, folder } = workspace(t)
  const file = join(folder, 'data', 'console-token')
  mkdirSync(join(folder, 'data'))
  writeFileSync(file, 'short\n')
  t.match(await command('console'), { code: 2, err: /console-token: the token is shorter than 16/ })
  chmodSync(file, 0o000)
  // Root reads all.
  if (process.getuid?.() !== 0) t.match(await command('console'), { code: 2, err: /cannot be read by this user/ })
})
