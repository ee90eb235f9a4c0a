import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startHost } from './every-host.ts'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'

/* Java and Apache clients ask for h2c in their first request, whatever that is. */
const WISHES = ['h2c', 'TLS/1.2', 'h2c, websocket', 'websocket, h2c', 'websocket/13', 'IRC/6.9, RTA/x11']

const TEXT = '{"a":"b"}'
const BODIES: readonly (readonly [method: string, fields: string, body: string])[] = [
  ['GET', '', ''],
  ['POST', `Content-Length: ${TEXT.length}\r\n`, TEXT],
  ['POST', 'Transfer-Encoding: chunked\r\n', `${TEXT.length.toString(16)}\r\n${TEXT}\r\n0\r\n\r\n`],
]

const NEXT = 'GET /next HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n'

/** Sends a request, and another one on its connection once it is answered; resolves with both answers. */
async function readAnswers(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  const [first] = await once(socket, 'data')
  const rest = text(socket)
  socket.write(NEXT)
  return String(first) + (await rest)
}

/** Sends them together, the last bytes in a packet of their own where `split` says; resolves with all that was answered. */
async function pipelined(port: number, bytes: string, split = bytes.length): Promise<string> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  // A write that comes before the connection would come before the first packet too.
  await once(socket, 'connect')
  socket.write(bytes.slice(0, split))
  if (split < bytes.length) setTimeout(() => socket.write(bytes.slice(split)), 50)
  return text(socket)
}

for (const host of HOSTS) {
  t.test(`${host.name} ignores upgrades to anything but a WebSocket`, async (t) => {
    const { enforcing, blocked } = madeScene()
    const site = await startHost(t, host, enforcing)
    const ask = (wish: string, method: string, fields: string, body: string) =>
      readAnswers(
        site.port,
        `${method} /shop HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nHost: site.example\r\n` +
          `HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: ${wish}\r\n` +
          `Content-Type: application/json\r\n${fields}\r\n${body}`,
      )
    const wrong: string[] = []
    for (const wish of WISHES) {
      for (const [method, fields, body] of BODIES) {
        const answers = await ask(wish, method, fields, body)
        const statuses = answers.match(/HTTP\/1\.1 \d+/g)?.join()
        const isWhole = body === '' || answers.includes(`"body":${TEXT}`)
        if (statuses !== 'HTTP/1.1 200,HTTP/1.1 200' || !isWhole) wrong.push(`${wish} ${method} ${fields}\n${answers}`)
      }
    }
    t.same(wrong, [])
    const asking = 'Host: site.example\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'
    const get = `GET /shop HTTP/1.1\r\n${asking}\r\n`
    const post = `POST /shop HTTP/1.1\r\n${asking}Content-Type: application/json\r\nContent-Length: ${TEXT.length}\r\n\r\n${TEXT}`
    const webSocket = asking.replace('h2c', 'websocket')
    const socket = `GET /shop HTTP/1.1\r\n${webSocket}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
    for (const [first, answered] of [
      [get, 2],
      [post, 2],
      [get + post + get, 4],
      [get + socket, 3],
    ] as const) {
      for (const split of [undefined, first.length - 3, first.length + 3]) {
        // A WebSocket's head in two packets is an upgrade as any other.
        if (first.endsWith(socket) && split !== undefined) continue
        const answers = await pipelined(site.port, first + NEXT, split)
        if (answers.match(/HTTP\/1\.1 200/g)?.length !== answered) wrong.push(`${first}split at ${split}\n${answers}`)
      }
    }
    t.same(wrong, [], 'what is behind such a request in the same packet is answered')
    const refused = await ask('h2c', 'GET', `X-Forwarded-For: ${blocked.address}\r\n`, '')
    t.match(refused, /^HTTP\/1\.1 403 /, 'and what asks so is inspected as any other')
  })
}
