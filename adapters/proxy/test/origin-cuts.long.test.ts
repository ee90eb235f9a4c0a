import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

/* Origins that go away at every awkward moment. That the process goes on is asked in each: an uncaught error would end the file. */
const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n'

/** The bytes of an answer that were sent, and whether its head was whole. */
const MOMENTS: Readonly<Record<string, readonly [sent: string, head: boolean]>> = {
  'before the head': ['', false],
  'within the status line': ['HTTP/1.1 20', false],
  'within the fields': ['HTTP/1.1 200 OK\r\nContent-Le', false],
  'after an early hint': ['HTTP/1.1 103 Early Hints\r\n\r\n', false],
  'after the head': [`${LENGTH}\r\n`, true],
  'after the head, without keep-alive': [`${LENGTH}Connection: close\r\n\r\n`, true],
  'within the body': [`${LENGTH}\r\nhalf`, true],
  'within the body, without keep-alive': [`${LENGTH}Connection: close\r\n\r\nhalf`, true],
  'within a chunk': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf', true],
}

const WAYS: Readonly<Record<string, (socket: Socket) => void>> = {
  closes: (socket) => void socket.end(),
  resets: (socket) => void socket.resetAndDestroy(),
}

/** Goes away once what was sent has gone out. */
function cutAfter(sent: string, way: (socket: Socket) => void) {
  return (socket: Socket, head: string): void => {
    if (head.startsWith('GET /good ')) socket.end(OK)
    else if (sent === '') way(socket)
    else socket.write(sent, 'latin1', () => setTimeout(way, 20, socket))
  }
}

for (const [moment, [sent, head]] of Object.entries(MOMENTS)) {
  for (const [does, way] of Object.entries(WAYS)) {
    t.test(`an origin that ${does} ${moment}`, async (t) => {
      const { url, origin } = await proxyBefore(t, cutAfter(sent, way))
      const expect = (answer: string, message: string): void => {
        t.equal(readStatus(answer), head ? 200 : 502, message)
        if (head) t.notMatch(answer, /x{100}$|0\r\n\r\n$/, 'a cut answer does not look whole')
      }
      expect(await exchange(url, get('/')), 'a request without a body')

      const uploading = await dial(url)
      const answer = readUntil(uploading, head ? '\u0000' : '}')
      uploading.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10000000\r\n\r\n')
      const timer = setInterval(() => uploading.write('x'.repeat(10_000)), 1)
      expect(await answer, 'an upload that is under way')
      clearInterval(timer)
      uploading.destroy()

      const leaving = await dial(url)
      const before = origin.heads.length
      leaving.write(get('/'))
      await until(() => origin.heads.length > before)
      leaving.destroy()
      await until(() => origin.open() === 0)
      t.equal(readStatus(await exchange(url, get('/good'))), 200, 'and the proxy lives')
    })
  }
}

t.test('a body without a length is whole where the origin closes, and cut where it resets', async (t) => {
  const sent = 'HTTP/1.1 200 OK\r\n\r\nall'
  const answers = Object.values(WAYS).map(async (way) => {
    const { url } = await proxyBefore(t, cutAfter(sent, way))
    return exchange(url, get('/'))
  })
  t.match(await Promise.all(answers), [/\r\n3\r\nall\r\n0\r\n\r\n$/, /\r\n3\r\nall\r\n$/])
})

/** A client that reads nothing, behind it a proxy that can pass nothing on, and an origin that then goes away. */
async function stuckBefore(t: Test, head: string, way: (socket: Socket) => void) {
  let response: ServerResponse | undefined
  const note = (message: unknown) => ({ response } = message as { readonly response: ServerResponse })
  subscribe('http.server.request.start', note)
  t.teardown(() => unsubscribe('http.server.request.start', note))
  const stuck = (): boolean => response?.writableNeedDrain === true
  const { url } = await proxyBefore(t, async (socket) => {
    socket.write(head)
    // Piece by piece, so that all of it was read when the client's buffers are full.
    while (!stuck()) {
      socket.write(Buffer.alloc(16_384, 'x'))
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      if (stuck()) await new Promise((resolve) => setTimeout(resolve, 30))
    }
    way(socket)
  })
  const client = await dial(url)
  client.pause()
  client.write(get('/'))
  await until(stuck)
  return { client, gone: () => response?.destroyed === true }
}

for (const head of [`${LENGTH.replace('100', '100000000')}Connection: close\r\n\r\n`, 'HTTP/1.1 200 OK\r\n\r\n']) {
  for (const [does, way] of Object.entries(WAYS)) {
    t.test(`an origin that ${does} while the client reads nothing: ${JSON.stringify(head)}`, async (t) => {
      const { client } = await stuckBefore(t, head, way)
      await new Promise((resolve) => setTimeout(resolve, 100))
      const all = readUntil(client)
      client.resume()
      const received = await all
      t.equal(readStatus(received), 200)
      t.ok(received.length > 100_000, `${received.length} bytes came before the end`)
      const whole = does === 'closes' && !head.includes('Content-Length')
      t.equal(received.endsWith('0\r\n\r\n'), whole, whole ? 'whole' : 'cut')

      let leave = (): void => {}
      const both = (socket: Socket): void => {
        way(socket)
        leave()
      }
      const left = await stuckBefore(t, head, both)
      leave = () => void left.client.destroy()
      await until(left.gone)
      t.ok(left.gone(), 'a client that leaves then takes its answer with it')
    })
  }
}
