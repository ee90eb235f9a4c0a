import type { Socket } from 'node:net'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { echo, handshake, lives, tunnel } from './tunnels.ts'
import { type Answer, dial, exchange, OK, openRawOrigin, readStatus, readUntil, until } from './wire.ts'

t.test('an origin that is not there is a bad gateway', async (t) => {
  const gone = await openRawOrigin(OK)
  await gone.close()
  const { url, errors } = await proxyBefore(t, OK, { upstream: gone.url })
  const answer = await exchange(url, handshake())
  t.equal(readStatus(answer), 502)
  t.match(answer, 'bad_gateway')
  t.equal(errors.length, 1)
})

/** Whether an error has a code; one without is a bug, which the command shows with its stack. */
function isCoded(error: unknown): boolean {
  return error instanceof Error && 'code' in error
}

const BAD: Readonly<Record<string, string>> = {
  'nothing that is HTTP': 'SSH-2.0-OpenSSH\r\n\r\n',
  'status 099': 'HTTP/1.1 099 Low\r\n\r\n',
  'status 999': 'HTTP/1.1 999 High\r\nContent-Length: 0\r\n\r\n',
  'a control byte in the reason': 'HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n',
  'a deleted byte in a value': 'HTTP/1.1 200 OK\r\nX: \u007f\r\nContent-Length: 0\r\n\r\n',
  'CL and TE': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
}
for (const [name, bad] of Object.entries(BAD)) {
  t.test(`an origin that answers the handshake with ${name}`, async (t) => {
    const answer: Answer = (socket, head) => {
      if (/^upgrade: websocket\r$/im.test(head)) socket.end(bad, 'latin1')
      else socket.write(OK)
    }
    const { url, origin, errors } = await proxyBefore(t, answer)
    const status = readStatus(await exchange(url, handshake()))
    t.ok(errors.every(isCoded), 'and is no bug of ours')
    t.ok(status === 502 || (status === 200 && name.includes('reason')), `answered with ${status}`)
    await until(() => origin.open() === 0)
    await lives(t, url)
  })
}

t.test('an origin that did not read the key opens no tunnel', async (t) => {
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
  for (const accept of ['', 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOA=\r\n']) {
    const { url, origin, errors } = await proxyBefore(t, (socket, head) => {
      socket.write(/^upgrade: websocket\r$/im.test(head) ? `${switching}${accept}\r\n` : OK)
    })
    t.equal(readStatus(await exchange(url, handshake())), 502, accept)
    t.ok(errors.every(isCoded), 'and is no bug of ours')
    await until(() => origin.open() === 0)
    await lives(t, url)
  }
})

t.test('an origin that does not answer the handshake is a gateway timeout', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 100 } })
  const answer = await exchange(url, handshake())
  t.equal(readStatus(answer), 504)
  await until(() => origin.open() === 0)
})

t.test('a client that resets', async (t) => {
  const silent: Answer = (socket, head) => void (head.startsWith('GET /chat') || socket.write(OK))
  const early = await proxyBefore(t, silent)
  const leaving = await dial(early.url)
  leaving.write(handshake())
  await until(() => early.origin.heads.length === 1)
  leaving.resetAndDestroy()
  await until(() => early.origin.open() === 0)
  await lives(t, early.url)

  const late = await tunnel(t)
  late.client.resetAndDestroy()
  await until(() => late.origin.open() === 0)
  await lives(t, late.url)

  const blocked = await dial(late.url)
  blocked.write(handshake('/chat', `X-Forwarded-For: ${VISITOR.blocked}`))
  blocked.resetAndDestroy()
  await lives(t, late.url)
})

t.test('an origin that resets', async (t) => {
  const at = await proxyBefore(t, (socket, head) => {
    if (head.startsWith('GET /chat')) socket.resetAndDestroy()
    else socket.write(OK)
  })
  t.equal(readStatus(await exchange(at.url, handshake())), 502)
  await lives(t, at.url)

  let end: Socket | undefined
  const within = await tunnel(t, (socket, head) => {
    if (/^upgrade: websocket\r$/im.test(head)) end = socket
    echo(socket, head)
  })
  const cut = readUntil(within.client)
  end?.resetAndDestroy()
  t.equal(await cut, '', 'the client is cut too')
  await lives(t, within.url)
})
