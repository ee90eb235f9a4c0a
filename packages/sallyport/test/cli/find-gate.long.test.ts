import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { serve, until, visit, workspace } from './command.ts'

const ASKS = [['console'], ['logs'], ['explain', '--request', 'one']] as const

/** A gate whose admin address a flag names, on a dataDir that the commands of the workspace share. */
async function openGate(t: Test, ...argv: readonly string[]) {
  const space = workspace(t, [
    'demo: true',
    `listen: 127.0.0.1:${await freePort()}`,
    'dns: { servers: ["127.0.0.1:9"], timeoutMs: 50 }',
  ])
  const run = (port: number) =>
    serve(t, space.config, ['--admin', `127.0.0.1:${port}`, '--trust-proxy', 'loopback', ...argv])
  const port = await freePort()
  return { ...space, run, port, proxy: await run(port), note: join(space.folder, 'data/admin-address') }
}

/** A program at an address, which keeps the head of each request. */
async function listen(t: Test, port: number, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    answer(request, response)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return asked
}

for (const argv of [[], ['--workers', '2']])
  t.test(`commands find a gate whose address a flag named ${argv.join(' ')}`, async (t) => {
    const { command, folder, port, proxy } = await openGate(t, ...argv)
    t.equal(statSync(join(folder, 'data/admin-secret')).mode & 0o777, 0o600)
    await visit(`${proxy.url}/some`, { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'one' })
    await until(async () => (await command('logs')).out.includes('one'))
    t.match(await command('console'), { code: 0, out: new RegExp(`^http://127\\.0\\.0\\.1:${port}/#sign-in=link`) })
    t.match(await command('explain', '--request', 'one'), { code: 0, out: /GET \S+\/some/ })
    t.match((await command('doctor')).out, `admin: 127.0.0.1:${port} is in use by a running Sallyport`)
    await proxy.stop()
    const none = /^sallyport: No link can be created: no gate runs on /
    t.match(await command('console'), { code: 1, out: /^$/, err: none })
    t.notMatch((await command('doctor')).out, String(port))
  })

t.test('a program at the address of a gate that was killed gets no token and no link', async (t) => {
  const { command, run, port, proxy, note } = await openGate(t)
  await proxy.stop('SIGKILL')
  let relay = ''
  const asked = await listen(t, port, async ({ method = '', url }, response) => {
    const passed = relay === '' ? undefined : await fetch(relay + url, { method })
    response.writeHead(passed?.status ?? 200, Object.fromEntries(passed?.headers ?? []))
    response.end(method === 'HEAD' ? undefined : '{"status":"ok"}')
  })
  const refused = async (reason: RegExp) => {
    for (const argv of ASKS) t.match(await command(...argv), { code: 1, out: /^$/, err: reason }, argv[0])
    t.match((await command('doctor')).out, new RegExp(`^warn {2}listeners {2}admin: ${reason.source}`, 'm'))
  }
  await refused(/no gate runs on \S+data \(the gate at 127\.0\.0\.1:\d+ ended\)/)
  t.same(asked, [], 'the process has ended')

  // Another process has its number.
  const noted = JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), pid: process.pid })
  writeFileSync(note, noted)
  await refused(/the program that listens on 127\.0\.0\.1:\d+ is not the gate of \S+data/)
  t.equal(asked.length, ASKS.length + 1)

  const other = await freePort()
  await run(other)
  t.match((await command('console')).out, `http://127.0.0.1:${other}/`)
  writeFileSync(note, noted)
  relay = `http://127.0.0.1:${other}`
  await refused(/the program that listens on \S+ is not the gate of \S+data/)
  for (const head of asked) {
    t.match(head, /^HEAD \/\.sallyport\/admin-proof\?nonce=/)
    t.notMatch(head, /cookie|authorization/i)
  }
})

t.test('a gate is asked as a reader, never with the token that changes things', async (t) => {
  const token = 'the-token-of-the-administrator'
  const secret = 's'.repeat(43)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const asked = await listen(t, port, (request, response) => {
    const nonce = /nonce=(\S+)/.exec(request.url ?? '')?.[1] ?? ''
    const hmac = createHmac('sha256', secret)
    const proof = hmac.update(nonce + url).digest('base64url')
    response.writeHead(200, { 'sallyport-proof': proof }).end(request.method === 'HEAD' ? undefined : '{"lines":[]}')
  })
  const { command, folder, config } = workspace(t)
  mkdirSync(join(folder, 'data'))
  const write = (name: string, text: string) => writeFileSync(join(folder, 'data', name), text, { mode: 0o600 })
  write('console-token', token)
  write('admin-secret', secret)
  write('admin-address', JSON.stringify({ url, pid: process.pid }))
  t.equal((await command('logs')).code, 0)
  t.match(asked.at(-1), /sallyport-console=read\./)
  const tokens = `console: { adminToken: ${token}, readToken: a-token-for-readers }\n`
  writeFileSync(config, readFileSync(config, 'utf8') + tokens)
  await command('logs')
  t.match(asked.at(-1), /Bearer a-token-for-readers/)
  for (const head of asked) t.notMatch(head, token)
})
