import t from 'tap'
import { proxyBefore } from './behind.ts'
import { type Answer, dial, get, OK, readUntil, until } from './wire.ts'

/** A request after which its connection goes on. */
const KEPT = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'

const BEHIND: Readonly<Record<string, string>> = {
  'a request behind Connection: close': get('/') + get('/behind'),
  'a request behind HTTP/1.0': `GET / HTTP/1.0\r\nHost: site.example\r\n\r\n${get('/behind')}`,
  'bytes that are no request': `${KEPT}\u0016\u0003\u0001 no request\r\n\r\n`,
  'half a bad head': `${KEPT}GET /behind HTTP/1.1\r\nHost : a\r\n`,
  'no request, and a request behind it': `${KEPT}no request\r\n\r\n${get('/behind')}`,
}

for (const [name, bytes] of Object.entries(BEHIND)) {
  t.test(`${name}: the request before it gets its own answer`, async (t) => {
    const { url, origin } = await proxyBefore(t, OK)
    const client = await dial(url)
    client.write(bytes, 'latin1')
    const received = await readUntil(client)
    t.match(received, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n\r\nok$/i, 'and its connection ends')
    t.equal(origin.heads.length, 1)
  })
}

t.test('a client that leaves after such bytes takes its request with it', async (t) => {
  const closed: boolean[] = []
  const answer: Answer = (socket) => void socket.once('close', () => closed.push(true))
  for (const leave of ['end', 'destroy'] as const) {
    const { url, origin } = await proxyBefore(t, answer)
    const client = await dial(url)
    client.write(`${KEPT}no request\r\n\r\n`)
    await until(() => origin.heads.length === 1)
    client[leave]()
    await until(() => closed.pop() === true)
  }
})

t.test('bytes that belong to a body are no request of their own', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const client = await dial(url)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
  t.match(await readUntil(client), /^HTTP\/1\.1 400 /)
  t.equal(origin.heads.length, 0)
})
