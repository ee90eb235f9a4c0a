import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { ask, childrenOf, start, until, workspace } from './command.ts'

const POLICY = `policy:
  rules: [{ id: no, match: { path: [/no] }, action: block }]
  strikes: { count: 1, window: 10m, on: [blocked], for: 1h }`

/** A worker that exports on its own does so within a second. */
const LOOKS_MS = 2_500

t.test('one of the workers keeps the set of the firewall, and another after its end', async (t) => {
  const { folder, config } = workspace(t, ['demo: true', 'trustProxy: [loopback]', POLICY])
  const socket = join(folder, 'nft')
  const lines: string[] = []
  const helper = createServer((socket) => {
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      const came = text.trimEnd().split('\n')
      lines.push(...came)
      socket.write('ok\n'.repeat(came.length))
    })
  })
  await once(helper.listen(socket), 'listening')
  t.teardown(() => void helper.close())
  const places = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const env = { SALLYPORT_BANS_EXPORT_NFTABLES: socket }
  const proxy = start(t, ['proxy', '--config', config, ...places, '--workers', '2'], env)
  await proxy.says('API key')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  await until(() => childrenOf(proxy).length === 2)
  const addresses = ['8.4.0.1', '8.4.0.2', '8.4.0.3']
  for (const address of addresses) await ask(`${url}/no`, { 'x-forwarded-for': address })
  await until(() => addresses.every((address) => lines.some((line) => line.startsWith(`add ${address} `))))
  await delay(LOOKS_MS)
  t.equal(lines.length, addresses.length, lines.join())

  const [leader = 0] = childrenOf(proxy)
  lines.length = 0
  process.kill(leader, 'SIGKILL')
  await until(() => lines.length === addresses.length)
  t.same(
    lines.map((line) => line.split(' ', 2)).sort(),
    addresses.map((address) => ['add', address]),
  )
})
