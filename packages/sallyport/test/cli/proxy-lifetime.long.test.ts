import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { start, until, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

function urlIn(out: string): string {
  return /Listening on (http:\/\/\S+),/.exec(out)?.[1] ?? ''
}

t.test('SIGHUP, and a change of a file that is watched, take over the configuration or keep the old one', async (t) => {
  const { config } = workspace(t, ['demo: true'])
  const first = readFileSync(config, 'utf8')
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK])
  await proxy.says('Listening')
  const url = urlIn(proxy.err())
  const status = async (): Promise<number> => (await fetch(url)).status
  t.equal(await status(), 200)
  const blocking = 'policy: { rules: [{ id: shut, match: { path: ["/**"] }, action: block }] }\n'
  writeFileSync(config, `${first}${blocking}listen: 127.0.0.1:1\nwatch: true\n`)
  proxy.child.kill('SIGHUP')
  await proxy.says('configuration reloaded: policy.rules applied; watch needs a restart.')
  t.equal(await status(), 403)
  writeFileSync(config, `${first}${blocking}limits: { inFlight: 0 }\n`)
  proxy.child.kill('SIGHUP')
  await proxy.says('configuration unchanged:')
  t.match(proxy.err(), /configuration unchanged: .*limits\.inFlight/)
  t.equal(await status(), 403)
  writeFileSync(config, first)
  proxy.child.kill('SIGHUP')
  await proxy.says('reloaded: policy.rules applied.')
  t.equal(await status(), 200)
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)

  writeFileSync(config, `${first}watch: true\n`)
  const watching = start(t, ['proxy', '--config', config, ...LOOPBACK])
  await watching.says('Listening')
  writeFileSync(config, `${first}watch: true\n${blocking}`)
  await watching.says('reloaded: policy.rules applied.')
  t.equal((await fetch(urlIn(watching.err()))).status, 403)
  watching.child.kill('SIGINT')
  t.equal(await watching.ended, 0)
})

t.test('SIGHUP cuts nobody off while the last requests are finished', async (t) => {
  const waiting: ServerResponse[] = []
  const origin = createServer((_, response) => void waiting.push(response))
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  for (const workers of [[], ['--workers', '1']]) {
    const { config } = workspace(t)
    const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--upstream', upstream, ...workers])
    await proxy.says('Listening')
    const answered = fetch(urlIn(proxy.err())).then(
      ({ status }) => status,
      () => 'cut',
    )
    await until(() => waiting.length > 0)
    proxy.child.kill('SIGTERM')
    await proxy.says('Finishing')
    // Until it takes no connection any more, it may not have heard of its end.
    await until(() =>
      fetch(urlIn(proxy.err()), { signal: AbortSignal.timeout(500) }).then(
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

t.test('under load, a stop fails no request of clients that keep their connections and repeat nothing', async (t) => {
  const origin = createServer((_, response) => setTimeout(() => response.end('ok'), 5))
  const { config } = workspace(t)
  const upstream = `http://127.0.0.1:${await listening(t, origin)}`
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--upstream', upstream])
  await proxy.says('Listening')
  const { hostname, port } = new URL(urlIn(proxy.err()))
  let answered = 0
  const failed: unknown[] = []
  /** One connection, over which one request follows another until an answer ends it. */
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let open = true; open; ) {
      open = await new Promise((resolve) => {
        const sent = request({ hostname, port, agent }, (answer) => {
          if (answer.statusCode !== 200) failed.push(answer.statusCode)
          answer.resume().once('end', () => {
            answered++
            resolve(answer.headers.connection !== 'close')
          })
        })
        sent.once('error', (error) => {
          failed.push(error)
          resolve(false)
        })
        sent.end()
      })
      await new Promise((resolve) => setTimeout(resolve, answered % 7))
    }
    agent.destroy()
  }
  const clients = Array.from({ length: 40 }, client)
  while (answered < 400) await new Promise((resolve) => setTimeout(resolve, 5))
  proxy.child.kill('SIGTERM')
  await Promise.all(clients)
  t.same(failed, [])
  t.equal(await proxy.ended, 0)
})
