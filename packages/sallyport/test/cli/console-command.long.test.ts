import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, start, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
const PAGE = { 'x-sallyport-console': '1' }

t.test('the command prints a link by the token file, and the service takes it', async (t) => {
  const { command, config, folder } = workspace(t, ['demo: true'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK])
  await proxy.says('with the token in')
  const admin = /Console at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const token = readFileSync(join(folder, 'data', 'console-token'), 'utf8').trim()
  t.equal(statSync(join(folder, 'data', 'console-token')).mode & 0o777, 0o600)
  t.notMatch(proxy.err(), token, 'the token itself is not in what may end in a log')

  const { code, out, err } = await command('console')
  t.equal(code, 0, err)
  t.ok(out.startsWith(`${admin}/#sign-in=link.`), 'the flag named the address')
  t.notMatch(out, token)
  const signIn = async (link: string) => {
    const headers = { ...PAGE, authorization: `Link ${/#sign-in=(\S+)/.exec(link)?.[1]}` }
    return fetch(`${admin}/console/api/session`, { method: 'POST', headers })
  }
  t.same([(await signIn(out)).status, (await signIn(out)).status], [200, 401])
  const { url } = JSON.parse((await run('console', '--config', config, '--json')).out)
  const signed = await signIn(url)
  t.match(await signed.json(), { role: 'read' })
  const cookie = signed.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const left = await fetch(`${admin}/console/api/session`, { method: 'DELETE', headers: { ...PAGE, cookie } })
  t.equal(left.status, 200)
  proxy.child.kill('SIGTERM')
  await proxy.ended

  const again = start(t, ['proxy', '--config', config, ...LOOPBACK])
  await again.says('with the token in')
  const place = /Console at (http:\/\/[^/]+)/.exec(again.err())?.[1] ?? ''
  const health = (headers: Record<string, string>) => fetch(`${place}/console/api/health`, { headers })
  t.equal((await health({ cookie })).status, 401, 'who signed out stays so after a restart')
  t.equal((await health({ authorization: `Bearer ${token}` })).status, 200)
})

t.test('before the first start the console has no link, and says why', async (t) => {
  const { command } = workspace(t)
  t.match(await command('console'), {
    code: 2,
    err: /No link can be created: \S*console-token does not exist yet; the first start creates it\.$/m,
  })
})

t.test('without a console bans are lifted by the token for administrators alone', async (t) => {
  const { command, config, folder } = workspace(t, ['demo: true', 'console: { enabled: false }'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK])
  await proxy.says('API key')
  await proxy.says('Health at')
  t.notMatch(proxy.err(), 'Console at')
  const admin = /Health at (http:\/\/[^/\s]+)/.exec(proxy.err())?.[1] ?? ''
  const lift = async (headers: Record<string, string>) =>
    (await fetch(`${admin}/bans/abc`, { method: 'DELETE', headers })).status
  t.equal(await lift({}), 401)
  const token = readFileSync(join(folder, 'data', 'console-token'), 'utf8').trim()
  t.equal(await lift({ authorization: `Bearer ${token}` }), 404)
  t.match(await command('console'), { code: 2, err: /console\.enabled is false/ })
})

t.test('tokens that can be guessed are refused', async (t) => {
  for (const text of ['short', 'aaaaaaaaaaaaaaaaaaaaaaaa', '1212121212121212']) {
    const { command } = workspace(t, [`console: { adminToken: "${text}" }`])
    t.match(await command('console'), { code: 2, err: /console\.adminToken: must / }, text)
  }
  const { command, folder } = workspace(t)
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data', 'console-token'), 'short\n')
  t.match(await command('console'), { code: 2, err: /console-token: the token is shorter than 16/ })
})

t.test(
  'who cannot read the token file makes no link',
  { skip: process.getuid?.() === 0 && 'root reads all' },
  async (t) => {
    const { command, folder } = workspace(t)
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'console-token'), 'a-token-of-somebody-else\n')
    chmodSync(join(folder, 'data', 'console-token'), 0o000)
    t.match(await command('console'), { code: 2, err: /cannot be read by this user/ })
  },
)
