import { createServer, type Socket } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { GONE, openOrigin, proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { agreement, echo, handshake, lives, tunnel } from './tunnels.ts'
import { type Answer, dial, exchange, OK, readStatus, readUntil, send, until } from './wire.ts'

t.test('a tunnel carries bytes both ways, after a handshake with the fields of ours', async (t) => {
  const fields = [`X-Forwarded-For: ${VISITOR.flagged}`, 'Sallyport-Action: allow', 'sallyport_action: allow', 'TE: x']
  const { client, head, origin } = await tunnel(t, echo, {}, ...fields)
  t.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  t.match(head, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  t.match(head, /set-cookie: a=1\r\nset-cookie: b=2\r\n/i)
  t.notMatch(head, /x-hop/i)
  for (const text of ['hello', '\u0081\u0085masked', 'x'.repeat(200_000)]) {
    const back = readUntil(client, new RegExp(`${text.slice(-20)}$`))
    client.write(text, 'latin1')
    t.match(await back, text.slice(0, 5))
  }
  const seen = origin.heads[0] ?? ''
  t.match(seen, /^GET \/chat HTTP\/1\.1\r\n/)
  t.match(seen.match(/^sallyport.*$/gim)?.sort(), [
    'sallyport-action: flag',
    'sallyport-asn: AS64501',
    /^sallyport-bot-probability: [\d.]+$/,
    'sallyport-network-class: hosting',
    `sallyport-request-id: ${/^x-request-id: (\S+)/im.exec(head)?.[1]}`,
  ])
  t.equal(seen.match(/^sallyport/gim)?.length, 5)
  t.match(seen, `X-Forwarded-For: ${VISITOR.flagged}, 127.0.0.1\r\n`)
  t.match(seen, /host: site.example\r\n/i)
  t.notMatch(seen, /^te:/im)
  client.destroy()
  await until(() => origin.open() === 0)
})

t.test('the fields of a handshake reach the origin as they came', async (t) => {
  const fields = ['zeta: 1', 'X-Alpha: 2', 'Origin: http://a', 'zeta: 3', 'Cookie: a=1; b=2', '9: 4']
  const { origin, client } = await tunnel(t, echo, {}, ...fields)
  const seen = (origin.heads[0] ?? '').split('\r\n').slice(1, -2)
  const ours = /^(?:x-forwarded-\w+|via|sallyport-[\w-]+): /i
  const sent = handshake('/chat', ...fields).split('\r\n')
  const theirs = seen.filter((line) => !ours.test(line))
  t.same(theirs, sent.slice(1, -2))
  t.ok(ours.test(seen.at(-1) ?? ''), 'and ours are the last')
  client.destroy()
})

t.test('the target goes on as it was judged', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const targets = ["/a//b/http:/c?d=e?f&g=//h'|", '//chat', '/./chat', 'http://site.example//chat?a']
  for (const target of targets) {
    const client = await send(url, handshake(target))
    t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 101 /, target)
    client.destroy()
  }
  const arrived = origin.heads.map((head) => head.split(' ')[1])
  t.same(arrived, [...targets.slice(0, 3), '//chat?a'])
})

t.test('bytes sent with the handshake, and before it is answered, are not lost', async (t) => {
  let end: Socket | undefined
  const { url, origin } = await proxyBefore(t, (socket) => {
    end = socket
  })
  const client = await send(url, `${handshake()}one `)
  await until(() => origin.heads.length === 1)
  await new Promise((sent) => client.write('two ', sent))
  await new Promise((sent) => client.write('three', sent))
  echo(end as Socket, origin.heads[0] as string)
  t.match(await readUntil(client, 'three'), /\r\n\r\none two three$/)
  client.destroy()
})

t.test('a client that sends more than 64 KiB before the handshake is answered is cut', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 600_000 } })
  const client = await send(url, handshake())
  await until(() => origin.heads.length === 1)
  const cut = readUntil(client)
  client.write(Buffer.alloc(65_537))
  t.equal(await cut, '')
  await until(() => origin.open() === 0)
})

const reset = (socket: Socket) => socket.resetAndDestroy()

t.test('a client that leaves, or resets, during the handshake or after it holds nothing', async (t) => {
  const silent: Answer = (socket, head) => void (head.startsWith('GET /chat') || socket.write(OK))
  const { url, origin, errors } = await proxyBefore(t, silent, { timeouts: { originHeaders: 600_000 } })
  const ways = [(client: Socket) => client.end(), (client: Socket) => client.end('early'), reset]
  for (const [before, leave] of ways.entries()) {
    const client = await send(url, handshake())
    await until(() => origin.heads.length === before + 1)
    const closed = readUntil(client)
    leave(client)
    t.equal(await closed, '')
    await until(() => origin.open() === 0)
  }
  t.strictSame(errors, [], 'which is no failure of the origin')
  const late = await tunnel(t)
  reset(late.client)
  await until(() => late.origin.open() === 0)
  for (const proxy of [url, late.url]) await lives(t, proxy)
})

t.test('a client that ends its half of a tunnel has left, whatever the origin does', async (t) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => socket.write(agreement(bytes.toString('latin1'))))
    t.teardown(() => socket.destroy())
  })
  const upstream = `http://127.0.0.1:${await listening(t, server)}`
  const { url } = await proxyBefore(t, OK, { upstream, timeouts: { tunnelIdle: '1h' } })
  const client = await send(url, handshake())
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 101 /)
  const over = readUntil(client)
  client.end('bye')
  t.equal(await over, '')
})

/** For the raw origin it ends as a head does. */
const BODY = 'hello\r\n\r\n'

t.test('an upgrade to something else is ignored, and the origin does not hear of it', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const settings = ['HTTP2-Settings: AAMAAABkAAQBAAAAAAIAAAAA', 'User-Agent: Java-http-client/21.0.2']
  for (const wish of ['h2c', 'websocket, h2c']) {
    const asking = ['Host: site.example', 'Connection: Upgrade, HTTP2-Settings', `Upgrade: ${wish}`, ...settings]
    const client = await dial(url)
    const ask = async (lines: readonly string[], until: string): Promise<void> => {
      const answered = readUntil(client, until)
      client.write(lines.join('\r\n'))
      t.match(await answered, /^HTTP\/1\.1 [12]00 /, `${wish}: ${lines[0]}`)
    }
    await ask(['GET /a HTTP/1.1', ...asking, '', ''], 'ok')
    await ask(['POST /form HTTP/1.1', ...asking, 'Content-Length: 9', '', BODY], 'ok')
    await ask(['PUT /form HTTP/1.1', ...asking, 'Expect: 100-continue', 'Content-Length: 9', '', ''], '100 Continue')
    client.write(BODY)
    await readUntil(client, 'ok')
    client.destroy()
  }
  const old = await exchange(url, handshake().replace('HTTP/1.1', 'HTTP/1.0'))
  t.match(old, /^HTTP\/1\.1 200 [\s\S]*ok$/, 'HTTP/1.0 has no upgrades')
  t.equal(origin.heads.length, 7)
  t.match(origin.received.join(''), /content-length: 9\r\n[\s\S]*?\r\n\r\nhello/i)
  t.notMatch(origin.received.join(''), /upgrade|http2-settings/i)
})

t.test('a handshake of another version is refused with ours', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const old = await exchange(url, handshake().replace('Version: 13', 'Version: 8'))
  t.match(old, /^HTTP\/1\.1 426 [\s\S]*sec-websocket-version: 13/i)
  t.equal(readStatus(await exchange(url, handshake('/chat', `X-Forwarded-For: ${VISITOR.blocked}`))), 403)
  t.same(origin.heads, [], 'the origin hears of none, nor of a client that is blocked')
})

t.test('an answer other than 101 is passed on, with framing of our own', async (t) => {
  const refusal = 'HTTP/1.1 401 No\r\nWWW-Authenticate: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n0\r\n\r\n'
  const { url, origin } = await proxyBefore(t, (socket, head) => {
    socket.write(/^upgrade: websocket\r$/im.test(head) ? refusal : OK)
  })
  const answer = await exchange(url, handshake())
  t.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\nWWW-Authenticate: x\r\n[\s\S]*connection: close\r\n[\s\S]*who/i)
  await until(() => origin.open() === 0)
  await lives(t, url)
})

t.test('an origin behind TLS is asked for by its own name', async (t) => {
  const origin = await openOrigin(t)
  for (const [index, name] of ['localhost', '127.0.0.1'].entries()) {
    const { url } = await proxyBefore(t, OK, { upstream: `https://${name}:${new URL(origin.url).port}` })
    const client = await send(url, handshake())
    await until(() => (origin.received[index] ?? '') !== '')
    const hello = origin.received[index] ?? ''
    t.strictSame([hello.includes('localhost'), hello.includes('site.example')], [name === 'localhost', false])
    client.destroy()
  }
})

t.test('an end is passed on, with all that came before it, and a tunnel that carries nothing ends', async (t) => {
  let end: Socket | undefined
  const { client } = await tunnel(t, (socket, head) => {
    end = socket
    echo(socket, head)
  })
  const rest = readUntil(client)
  end?.end('x'.repeat(1_000_000))
  t.equal((await rest).length, 1_000_000)
  const idle = await tunnel(t, echo, { timeouts: { tunnelIdle: 100 } })
  t.equal(await readUntil(idle.client), '')
  await until(() => idle.origin.open() === 0)
})

t.test('an upgrade while an earlier request is being answered is cut', async (t) => {
  const answer: Answer = (socket, head) => void (head.startsWith('GET /slow') || socket.write(OK))
  const { url, origin } = await proxyBefore(t, answer)
  const client = await send(url, `GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake()}`)
  t.equal(await readUntil(client), '')
  await until(() => origin.open() === 0)
  await lives(t, url)
})

t.test('an origin that is not there is a bad gateway, and one that is silent a gateway timeout', async (t) => {
  const { url, errors } = await proxyBefore(t, OK, { upstream: GONE })
  t.match(await exchange(url, handshake()), /^HTTP\/1\.1 502 [\s\S]*bad_gateway/)
  t.equal(errors.length, 1)
  const silent = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 100 } })
  t.equal(readStatus(await exchange(silent.url, handshake())), 504)
  await until(() => silent.origin.open() === 0)
})

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'

const BAD: Readonly<Record<string, string>> = {
  'a 101 without the key': `${SWITCHING}\r\n`,
  'a 101 with another key': `${SWITCHING}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOA=\r\n\r\n`,
  'nothing that is HTTP': 'SSH-2.0-OpenSSH\r\n\r\n',
  'status 099': 'HTTP/1.1 099 Low\r\n\r\n',
  'a control byte in the reason': 'HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n',
  'CL and TE': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
}
t.test('an origin that answers the handshake with what is no answer', async (t) => {
  for (const [name, bad] of Object.entries(BAD)) {
    const { url, origin, errors } = await proxyBefore(t, (socket, head) => {
      if (/^upgrade: websocket\r$/im.test(head)) socket.end(bad, 'latin1')
      else socket.write(OK)
    })
    const status = readStatus(await exchange(url, handshake()))
    t.match(errors, status === 502 ? [{ code: /./ }] : [], 'and is no bug of ours, which has no code')
    t.ok(status === 502 || (status === 200 && name.includes('reason')), `${name}: ${status}`)
    await until(() => origin.open() === 0)
    await lives(t, url)
  }
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
