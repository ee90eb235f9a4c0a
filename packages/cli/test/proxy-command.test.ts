import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { start, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

function urlIn(out: string): string {
  return /Listening on (http:\/\/\S+),/.exec(out)?.[1] ?? ''
}

t.test('it starts, serves, and ends with 0 at the first signal', async (t) => {
  const { config } = workspace(t)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--trust-proxy', 'loopback'])
    await proxy.says('API key')
    const url = urlIn(proxy.out())
    t.equal((await fetch(url)).status, 200)
    const health = /Health at (\S+)/.exec(proxy.out())?.[1] ?? ''
    t.match(await (await fetch(health)).json(), { status: 'ready' })
    proxy.child.kill(signal)
    t.equal(await proxy.ended, 0, signal)
  }
})

t.test('what is in flight is finished first, and a second signal from npm does not cut it', async (t) => {
  let answer: ServerResponse | undefined
  const origin = createServer((_, response) => {
    answer = response
  }).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.teardown(() => origin.close())
  const { config } = workspace(t)
  const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--upstream', upstream])
  await proxy.says('API at')
  t.notMatch(proxy.out(), 'API key', 'no demo before an origin of one’s own')
  const response = fetch(urlIn(proxy.out()))
  while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  proxy.child.kill('SIGINT')
  proxy.child.kill('SIGINT')
  while (!proxy.err().includes('in flight')) await new Promise((resolve) => setTimeout(resolve, 5))
  answer.end('whole')
  t.equal(await (await response).text(), 'whole')
  t.equal(await proxy.ended, 0)
})

t.test('a port that is taken is one line and exit 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`
  const { config } = workspace(t)
  await start(t, ['data', 'compile', '--config', config]).ended
  for (const argv of [
    ['--listen', address],
    ['--listen', '127.0.0.1:0', '--admin', address],
  ]) {
    const proxy = start(t, ['proxy', '--config', config, ...argv])
    t.equal(await proxy.ended, 1)
    t.equal(proxy.err(), `sallyport: cannot listen on ${address}: another program listens there already\n`)
    t.equal(proxy.out(), '')
  }
})

t.test('the demo shows its key once for a dataDir, and variables are read', async (t) => {
  const { config } = workspace(t)
  const keys: (string | undefined)[] = []
  for (let i = 0; i < 2; i += 1) {
    const env = { SALLYPORT_TRUST_PROXY: 'loopback', SALLYPORT_API_BASE: '/detect' }
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK], env)
    await proxy.says('API key')
    keys.push(/sp_\w+/.exec(proxy.out())?.[0])
    t.match(proxy.out(), "curl -H 'X-Forwarded-For: 185.220.101.10'")
    const command = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(proxy.out())
    t.equal(command?.[1], keys[i] ?? '<API_KEY>')
    t.match(command?.[2], `${urlIn(proxy.out())}/detect/v1/vpn/`)
    const asked = await fetch(`${urlIn(proxy.out())}/detect/v1/user/limits`, {
      headers: { authorization: `Bearer ${keys[0]}` },
    })
    t.equal(asked.status, 200, 'the key works, at the base that the variable names')
    proxy.child.kill('SIGTERM')
    await proxy.ended
  }
  t.ok(keys[0])
  t.equal(keys[1], undefined)
})

t.test('it starts and inspects while its PostgreSQL and its Redis are away', async (t) => {
  const { config } = workspace(t)
  const stores = ['--store', 'postgres://app:secret@127.0.0.1:1/app', '--redis', 'redis://127.0.0.1:1']
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...stores])
  await proxy.says('no API key to show')
  t.equal((await fetch(urlIn(proxy.out()))).status, 200)
  t.equal((await fetch(`${urlIn(proxy.out())}/v1/myip`)).headers.get('x-ratelimit-limit'), '30', 'half the rate')
  t.match(proxy.err(), /ECONNREFUSED/)
  t.notMatch(proxy.err(), 'secret')
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)
})
