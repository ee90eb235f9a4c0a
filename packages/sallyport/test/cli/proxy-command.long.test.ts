import { createServer, type ServerResponse } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { run, start, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

function urlIn(out: string): string {
  return /Listening on (http:\/\/\S+),/.exec(out)?.[1] ?? ''
}

t.test('it starts, serves, shows its key once for a dataDir, and ends with 0 at the first signal', async (t) => {
  const { config } = workspace(t, ['demo: true', 'timeouts: { drain: 100ms }'])
  const runs = [
    { signal: 'SIGINT', flags: ['--trust-proxy', 'loopback'], env: { SALLYPORT_API_BASE: '/detect' } },
    { signal: 'SIGTERM', flags: [], env: { SALLYPORT_TRUST_PROXY: 'loopback', SALLYPORT_API_BASE: '/detect' } },
  ] as const
  const keys: (string | undefined)[] = []
  for (const [index, { signal, flags, env }] of runs.entries()) {
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...flags], env)
    await proxy.says('API key')
    const url = urlIn(proxy.err())
    t.equal((await fetch(url)).status, 200)
    const health = /Health at (\S+)/.exec(proxy.err())?.[1] ?? ''
    t.match(await (await fetch(health)).json(), { status: 'ready' })
    keys.push(/sp_\w+/.exec(proxy.err())?.[0])
    t.match(proxy.err(), /curl [\s\S]*-H 'X-Forwarded-For: 185\.220\.101\.10'/)
    const command = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(proxy.err())
    t.equal(command?.[1], keys[index] ?? '<API_KEY>')
    t.match(command?.[2], `${url}/detect/v1/vpn/`)
    const asked = await fetch(`${url}/detect/v1/user/limits`, { headers: { authorization: `Bearer ${keys[0]}` } })
    t.equal(asked.status, 200, 'the key works, at the base that the variable names')
    proxy.child.kill(signal)
    t.equal(await proxy.ended, 0, signal)
  }
  t.ok(keys[0])
  t.equal(keys[1], undefined)
})

t.test('requests in flight are finished first, and a second signal from npm does not cut them', async (t) => {
  let answer: ServerResponse | undefined
  const origin = createServer((_, response) => {
    answer = response
  })
  const { config } = workspace(t)
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--upstream', upstream])
  await proxy.says('API at')
  t.notMatch(proxy.err(), 'API key', 'no demo before an origin of one’s own')
  const response = fetch(urlIn(proxy.err()))
  while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  proxy.child.kill('SIGINT')
  proxy.child.kill('SIGINT')
  while (!proxy.err().includes('in flight')) await new Promise((resolve) => setTimeout(resolve, 5))
  answer.end('whole')
  t.equal(await (await response).text(), 'whole')
  t.equal(await proxy.ended, 0)
})

t.test('without an origin it says so, and serves the API alone', async (t) => {
  const { config } = workspace(t, ['policy: { rules: [{ id: all, match: {}, action: allow }] }'])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK], { SALLYPORT_COLOUR: 'red' })
  await proxy.says('API at')
  t.match(proxy.err(), /Listening on \S+, without an origin: every path except \/v1 is a 404\./)
  t.notMatch(proxy.err(), 'API key')
  t.equal((await fetch(urlIn(proxy.err()))).status, 404)
  t.equal((await fetch(`${urlIn(proxy.err())}/v1/myip`)).status, 200)
  t.match(proxy.err(), /warning: configuration: the variable SALLYPORT_COLOUR is unknown/)
  t.match(proxy.err(), /warning: \S+test\.yaml:\d+: policy\.rules\.0: rule "all": the rule allows every request/)
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)
})

t.test('a port that is taken is one line and exit 1', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const line = `sallyport: cannot listen on ${address}: another program already listens there. Stop the program, or use another address\n`
  const { command, config } = workspace(t)
  await command('data', 'compile')
  t.match(await run('proxy', '--config', config, '--listen', address), { code: 1, out: '', err: line })
  // The process ends although its first listener was open.
  const proxy = start(t, ['proxy', '--config', config, '--listen', '127.0.0.1:0', '--admin', address])
  t.equal(await proxy.ended, 1)
  t.same([proxy.out(), proxy.err()], ['', line])
})

t.test('it starts and inspects while its PostgreSQL and its Redis are away', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const store = { SALLYPORT_STORE: 'postgres://app:secret@127.0.0.1:1/app' }
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--redis', 'redis://127.0.0.1:1'], store)
  await proxy.says('The demo has no new API key.')
  t.equal((await fetch(urlIn(proxy.err()))).status, 200)
  t.equal((await fetch(`${urlIn(proxy.err())}/v1/myip`)).headers.get('x-ratelimit-limit'), '30', 'half the rate')
  t.match(proxy.err(), /ECONNREFUSED/)
  t.notMatch(proxy.err(), 'secret')
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)
})
