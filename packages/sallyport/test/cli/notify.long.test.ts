import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { start, until, workspace } from './command.ts'
import { openWebhook } from './webhook.ts'

const SECRET = 'a secret of thirty-two characters'

/** An origin that can die, and come back at the same port. */
async function openOrigin(t: Test) {
  let server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const die = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(die)
  return {
    url: `http://127.0.0.1:${port}`,
    die,
    async come() {
      server = createServer((_, response) => response.end('ok')).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}

/** The status of an answer, over a connection of its own: any worker may have the next. */
async function readStatus(url: string, headers: OutgoingHttpHeaders = {}): Promise<number | undefined> {
  const [response] = (await once(request(url, { agent: false, headers }).end(), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

for (const workers of [0, 2]) {
  t.test(
    `an operator is notified of a ban, an origin and a refused reload, ${workers || 'without'} workers`,
    async (t) => {
      const [hook, other, origin] = [await openWebhook(t), await openWebhook(t), await openOrigin(t)]
      const { config } = workspace(t, [
        `upstream: ${origin.url}`,
        'trustProxy: [loopback]',
        'net: { allowPrivate: [127.0.0.0/8] }',
        'log: { addresses: truncated, file: /dev/null }',
        'notify:',
        `  - { url: "${hook.url}", secret: "${SECRET}" }`,
        'policy:',
        '  rules: [{ id: closed, match: { path: ["/closed/**"] }, action: block }]',
        '  strikes: { count: 2, window: 1h, on: [blocked], for: 1d }',
      ])
      const good = readFileSync(config, 'utf8')
      const more = workers === 0 ? [] : ['--workers', String(workers)]
      const listen = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
      const proxy = start(t, ['proxy', '--config', config, ...listen, ...more])
      await proxy.says('Health at')
      const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
      const admin = /Health at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''

      const closed = () => readStatus(`${url}/closed/door`, { 'x-forwarded-for': '8.8.4.4' })
      await until(async () => {
        await closed()
        return hook.of('ban').length > 0
      })
      t.match(hook.of('ban'), [
        {
          text: /^A client in a network of class unknown \(8\.8\.4\.0\/24\) is banned until .+ by strikes: 2 strikes, the last blocked\.$/,
        },
      ])

      await origin.die()
      await until(async () => {
        await readStatus(`${url}/`)
        return hook.of('origin').length > 0
      })
      // Each of several workers notices, and it is said once.
      for (let more = 0; more < 8; more++) await readStatus(`${url}/`)
      await origin.come()
      await until(async () => (await readStatus(`${url}/`)) === 200 && hook.of('origin').length === 2)
      t.match(hook.of('origin'), [
        { text: `The origin ${origin.url} is down.`, leftOut: 0 },
        { over: true, text: `The origin ${origin.url} is up again.` },
      ])

      writeFileSync(config, good.replace('action: block', 'action: blok'))
      proxy.child.kill('SIGHUP')
      await until(() => hook.of('reload_refused').length === 1)
      t.match(hook.of('reload_refused'), [{ text: /^The configuration was not reloaded: .*"blok" is unknown/ }])
      // A second place, which has what comes from now on; no message is sent again.
      writeFileSync(config, good.replace('notify:\n', `notify:\n  - { url: "${other.url}" }\n`))
      proxy.child.kill('SIGHUP')
      await until(() => hook.of('reload_refused').length === 2)
      t.match(hook.of('reload_refused')[1], { over: true, text: 'The configuration was reloaded.' })

      // Whether the second place has the word that ends the refusal depends on which is first in force.
      const counted = /kind="reload_refused",outcome="sent"\} [23]\n/
      await until(async () => counted.test(await (await fetch(`${admin}/metrics`)).text()))
      const metrics = await (await fetch(`${admin}/metrics`)).text()
      t.match(metrics, /sallyport_notifications_total\{kind="origin",outcome="sent"\} 2/)
      t.match(metrics, /sallyport_notifications_total\{kind="ban",outcome="sent"\} 1/)
      t.same(
        hook.posted.map(({ message: { kind } }) => kind).sort(),
        ['ban', 'origin', 'origin', 'reload_refused', 'reload_refused'],
        'nothing else, and nothing twice',
      )
      t.notMatch(hook.posted.map(({ body }) => body).join(), '8.8.4.4', 'no address that the log would not have')

      proxy.child.kill('SIGTERM')
      t.equal(await proxy.ended, 0, proxy.err())
      t.notMatch(proxy.err(), SECRET)
    },
  )
}
