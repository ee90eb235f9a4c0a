import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { LOOPBACK, run, serve, start, until, visit, workspace } from './command.ts'

t.test('it starts, serves, shows its key once for a dataDir, and ends with 0 at the first signal', async (t) => {
  const { config } = workspace(t, ['demo: true', 'timeouts: { drain: 100ms }'])
  const runs = [
    { signal: 'SIGINT', flags: ['--trust-proxy', 'loopback'], env: { SALLYPORT_API_BASE: '/detect' } },
    { signal: 'SIGTERM', flags: [], env: { SALLYPORT_TRUST_PROXY: 'loopback', SALLYPORT_API_BASE: '/detect' } },
  ] as const
  const keys: string[] = []
  for (const { signal, flags, env } of runs) {
    const proxy = await serve(t, config, flags, 'Console at', env)
    const { url, admin, key, err } = proxy
    t.equal((await visit(url)).status, 200)
    t.match(JSON.parse((await visit(`${admin}/readyz`)).text), { status: 'ready' })
    keys.push(key)
    t.match(err(), /curl [\s\S]*-H 'X-Forwarded-For: 185\.220\.101\.10'/)
    const command = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(err())
    t.equal(command?.[1], key === '' ? '<API_KEY>' : key)
    t.match(command?.[2], `${url}/detect/v1/vpn/`)
    const asked = await visit(`${url}/detect/v1/user/limits`, { authorization: `Bearer ${keys[0]}` })
    t.equal(asked.status, 200, 'the key works, at the base that the variable names')
    t.equal(await proxy.stop(signal), 0, signal)
  }
  t.match(keys, [/./, /^$/])
})

t.test('requests in flight are finished first, and a second signal from npm does not cut them', async (t) => {
  let answer: ServerResponse | undefined
  const origin = createServer((_, response) => {
    answer = response
  })
  const { config } = workspace(t)
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  const proxy = await serve(t, config, ['--upstream', upstream])
  t.notMatch(proxy.err(), 'API key', 'no demo before an origin of one’s own')
  const response = visit(proxy.url)
  await until(() => answer !== undefined)
  proxy.child.kill('SIGINT')
  proxy.child.kill('SIGINT')
  await proxy.says('in flight')
  answer?.end('whole')
  t.equal((await response).text, 'whole')
  t.equal(await proxy.ended, 0)
})

t.test('without an origin it says so, and serves the API alone', async (t) => {
  const { config } = workspace(t, ['policy: { rules: [{ id: all, match: {}, action: allow }] }'])
  const proxy = await serve(t, config, [], 'Console at', { SALLYPORT_COLOUR: 'red' })
  t.match(proxy.err(), /Listening on \S+, without an origin: every path except \/v1 is a 404\./)
  t.notMatch(proxy.err(), 'API key')
  t.equal((await visit(proxy.url)).status, 404)
  t.equal((await visit(`${proxy.url}/v1/myip`)).status, 200)
  t.match(proxy.err(), /warning: configuration: the variable SALLYPORT_COLOUR is unknown/)
  t.match(proxy.err(), /warning: \S+test\.yaml:\d+: policy\.rules\.0: rule "all": the rule allows every request/)
  t.equal(await proxy.stop('SIGINT'), 0)
})

t.test('a port that is taken is one line and exit 1', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const line = `sallyport: cannot listen on ${address}: another program already listens there. Stop the program, or use another address\n`
  const { command, config } = workspace(t)
  await command('data', 'compile')
  t.match(await run('proxy', '--config', config, '--listen', address), { code: 1, out: '', err: line })
  // The process ends although its first listener was open.
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--admin', address])
  t.equal(await proxy.ended, 1)
  t.same([proxy.out(), proxy.err()], ['', line])
})

t.test('it starts and inspects while its PostgreSQL and its Redis are away', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const store = { SALLYPORT_STORE: 'postgres://app:secret@127.0.0.1:1/app' }
  const proxy = await serve(t, config, ['--redis', 'redis://127.0.0.1:1'], 'The demo has no new API key.', store)
  t.equal((await visit(proxy.url)).status, 200)
  t.equal((await visit(`${proxy.url}/v1/myip`)).headers['x-ratelimit-limit'], '30', 'half the rate')
  t.match(proxy.err(), /ECONNREFUSED/)
  t.notMatch(proxy.err(), 'secret')
  t.equal(await proxy.stop('SIGINT'), 0)
})

t.test('SIGHUP cuts nobody off while the last requests are finished', async (t) => {
  const waiting: ServerResponse[] = []
  const origin = createServer((_, response) => void waiting.push(response))
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  for (const workers of [[], ['--workers', '1']]) {
    const { config } = workspace(t)
    const proxy = await serve(t, config, ['--upstream', upstream, ...workers])
    const answered = fetch(proxy.url).then(
      ({ status }) => status,
      () => 'cut',
    )
    await until(() => waiting.length > 0)
    proxy.child.kill('SIGTERM')
    await proxy.says('Finishing')
    // Until it takes no connection any more, it may not have heard of its end.
    await until(() =>
      fetch(proxy.url, { signal: AbortSignal.timeout(500) }).then(
        () => false,
        ({ name }) => name !== 'TimeoutError',
      ),
    )
    proxy.child.kill('SIGHUP')
    const over = await Promise.race([proxy.ended.then(() => 'over'), delay(500)])
    t.equal(over, undefined, 'it waits for the last')
    for (const response of waiting.splice(0)) response.end('ok')
    t.equal(await answered, 200, workers.join(' '))
    t.equal(await proxy.ended, 0, workers.join(' '))
  }
})

t.test('an authority that accepts and stays silent does not hold up SIGTERM', async (t) => {
  let asked = 0
  const silent = createServer(() => void asked++)
  const { config } = workspace(t, [
    'demo: true',
    'http: 127.0.0.1:0',
    'timeouts: { drain: 0s }',
    `tls: { acme: { domains: [site.example], email: ops@site.example, directory: "http://127.0.0.1:${await listening(t, silent)}/dir" } }`,
  ])
  const proxy = await serve(t, config, [], 'Listening')
  await until(() => asked === 1)
  const began = performance.now()
  t.equal(await proxy.stop(), 0)
  t.ok(performance.now() - began < 15_000, 'long before the time that an answer has')
  t.notMatch(proxy.err(), /tls\.acme/)
})
