import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { serve, until, visit, workspace } from './command.ts'
import { openWebhook } from './webhook.ts'

const SECRET = 'a secret of thirty-two characters'

for (const workers of [[], ['--workers', '2']]) {
  t.test(`an operator is notified of a ban, an origin and a refused reload ${workers.join(' ')}`, async (t) => {
    const [hook, other] = [await openWebhook(t), await openWebhook(t)]
    const upstream = `http://127.0.0.1:${await freePort()}`
    const { config } = workspace(t, [
      `upstream: ${upstream}`,
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
    const proxy = await serve(t, config, workers)
    const { url, admin } = proxy

    await until(async () => {
      await visit(`${url}/closed/door`, { 'x-forwarded-for': '8.8.4.4' })
      return hook.of('ban').length > 0
    })
    const ban =
      /^A client in a network of class unknown \(8\.8\.4\.0\/24\) is banned until .+ by strikes: 2 strikes, the last blocked\.$/
    t.match(hook.of('ban'), [{ text: ban }])

    await until(async () => {
      await visit(`${url}/`)
      return hook.of('origin').length > 0
    })
    // Each of several workers notices, and it is said once.
    for (let more = 0; more < 8; more++) await visit(`${url}/`)
    const origin = createServer((_, response) => response.end('ok')).listen(Number(new URL(upstream).port), '127.0.0.1')
    t.teardown(() => void origin.close().closeAllConnections())
    await until(async () => (await visit(`${url}/`)).status === 200 && hook.of('origin').length === 2)
    t.match(hook.of('origin'), [
      { text: `The origin ${upstream} is down.`, leftOut: 0 },
      { over: true, text: `The origin ${upstream} is up again.` },
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
    let metrics = ''
    await until(async () => {
      metrics = (await visit(`${admin}/metrics`)).text
      return counted.test(metrics)
    })
    t.match(metrics, /sallyport_notifications_total\{kind="origin",outcome="sent"\} 2/)
    t.match(metrics, /sallyport_notifications_total\{kind="ban",outcome="sent"\} 1/)
    const kinds = hook.posted.map(({ message: { kind } }) => kind).sort()
    t.equal(kinds.join(' '), 'ban origin origin reload_refused reload_refused', 'nothing else, and nothing twice')
    t.notMatch(hook.posted.map(({ body }) => body).join(), '8.8.4.4', 'no address that the log would not have')

    t.equal(await proxy.stop(), 0, proxy.err())
    t.notMatch(proxy.err(), SECRET)
  })
}
