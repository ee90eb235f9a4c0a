import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { readJson, sendError, sendJson } from '../../src/console/http/reply.ts'

t.test('a body that is too large leaves its connection usable, and one that ends early is no bug', async (t) => {
  const faults: unknown[] = []
  const server = createServer((request, response) => {
    readJson(request).then(
      (body) => sendJson(response, 200, body),
      (error: unknown) => {
        faults.push(error)
        sendError(response, error)
        server.emit('fault')
      },
    )
  })
  const port = await listening(t, server)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const send = (body: string) =>
    new Promise<readonly [number | undefined, boolean]>((resolve, reject) => {
      const asked = request({ port, method: 'POST', agent }, (response) => {
        response.resume().once('end', () => resolve([response.statusCode, asked.reusedSocket]))
      })
      asked.once('error', reject).end(body)
    })
  t.same(await send('#'.repeat(2_000_000)), [413, false])
  t.same(await send('{"text":""}'), [200, true])

  const left = once(server, 'fault')
  const cut = request({ port, method: 'POST', headers: { 'content-length': 10 } })
  cut.on('error', () => {}).write('{')
  await once(server, 'request')
  cut.destroy()
  await left
  t.match(faults, [{ code: 'payload_too_large' }, { code: 'invalid_request' }])
})
