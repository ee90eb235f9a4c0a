import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { agreement, echo, handshake, lives, tunnel } from './tunnels.ts'
import { type Answer, dial, exchange, OK, openRawOrigin, readStatus, readUntil, until } from './wire.ts'

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
  t.strictSame(
    seen
      .replace(/(?<=probability: )[\d.]+/, 'P')
      .match(/^sallyport.*$/gim)
      ?.sort(),
    [
      'sallyport-action: flag',
      'sallyport-asn: AS64501',
      'sallyport-bot-probability: P',
      'sallyport-network-class: hosting',
      `sallyport-request-id: ${/^x-request-id: (\S+)/im.exec(head)?.[1]}`,
    ],
  )
  t.match(seen, `X-Forwarded-For: ${VISITOR.flagged}, 127.0.0.1\r\n`)
  t.match(seen, /host: site.example\r\n/i)
  t.notMatch(seen, /^te:/im)
  client.destroy()
  await until(() => origin.open() === 0)
})

t.test('the fields of a handshake reach the origin as they came', async (t) => {
  const fields = [
    'zeta: 1',
    'X-Alpha: 2',
    'Origin: http://a',
    'zeta: 3',
    'Accept-Language: de',
    'Cookie: a=1; b=2',
    '9: 4',
  ]
  const { origin, client } = await tunnel(t, echo, {}, ...fields)
  const seen = (origin.heads[0] ?? '').split('\r\n').slice(1, -2)
  const ours = /^(?:x-forwarded-\w+|via|sallyport-[\w-]+): /i
  t.same(
    seen.filter((line) => !ours.test(line)),
    [
      'Host: site.example',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...fields,
    ],
  )
  t.ok(ours.test(seen.at(-1) ?? ''), 'and ours are the last')
  client.destroy()
})

t.test('Connection and Upgrade stand where the client had them', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const key = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']
  const fields = ['Origin: https://a.example', ...key, 'upgrade: websocket', 'Host: site.example', 'Cookie: a=1']
  const client = await dial(url)
  client.write(
    ['GET /chat HTTP/1.1', 'X-Forwarded-For: 6.6.6.6', ...fields, 'Connection: Upgrade', '', ''].join('\r\n'),
  )
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 101 /)
  client.destroy()
  const names = (origin.heads[0] ?? '').split('\r\n').slice(1, 8)
  t.same(
    names,
    [...fields, 'Connection: Upgrade'].map((line) => line.replace('upgrade:', 'Upgrade:')),
  )
})

t.test('the target goes on as it was judged', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const targets = ["/a//b/http:/c?d=e?f&g=//h'|", '//chat', '/./chat', 'http://site.example//chat?a']
  for (const target of targets) {
    const client = await dial(url)
    client.write(handshake(target))
    t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 101 /, target)
    client.destroy()
  }
  t.same(
    origin.heads.map((head) => head.split('\r\n')[0]),
    targets.map((target) => `GET ${target.replace('http://site.example', '')} HTTP/1.1`),
  )
})

t.test('bytes sent with the handshake are not lost', async (t) => {
  const { url } = await proxyBefore(t, echo)
  const client = await dial(url)
  client.write(`${handshake()}early`)
  t.match(await readUntil(client, 'early'), /^HTTP\/1\.1 101 /)
  client.destroy()
})

t.test('bytes sent before the handshake is answered are not lost', async (t) => {
  let end: Socket | undefined
  const { url, origin } = await proxyBefore(t, (socket) => {
    end = socket
  })
  const client = await dial(url)
  client.write(`${handshake()}one `)
  await until(() => origin.heads.length === 1)
  await new Promise((sent) => client.write('two ', sent))
  await new Promise((sent) => client.write('three', sent))
  echo(end as Socket, origin.heads[0] as string)
  t.match(await readUntil(client, 'three'), /\r\n\r\none two three$/)
  client.destroy()
})

t.test('a client that sends more than 64 KiB before the handshake is answered is cut', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 600_000 } })
  const client = await dial(url)
  client.write(handshake())
  await until(() => origin.heads.length === 1)
  const cut = readUntil(client)
  client.write(Buffer.alloc(65_537))
  t.equal(await cut, '')
  await until(() => origin.open() === 0)
})

for (const early of ['', 'early']) {
  t.test(`a client that leaves during the handshake${early && ', after bytes,'} holds nothing`, async (t) => {
    const { url, origin, errors } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 600_000 } })
    const client = await dial(url)
    client.write(handshake())
    await until(() => origin.heads.length === 1)
    const closed = readUntil(client)
    client.end(early)
    t.equal(await closed, '')
    await until(() => origin.open() === 0)
    t.strictSame(errors, [], 'which is no failure of the origin')
  })
}

t.test('a client that ends its half of a tunnel has left, whatever the origin does', async (t) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => socket.write(agreement(bytes.toString('latin1'))))
    t.teardown(() => socket.destroy())
  })
  const upstream = `http://127.0.0.1:${await listening(t, server)}`
  const { url } = await proxyBefore(t, OK, { upstream, timeouts: { tunnelIdle: '1h' } })
  const client = await dial(url)
  client.write(handshake())
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 101 /)
  const over = readUntil(client)
  client.end('bye')
  t.equal(await over, '')
})

t.test('a blocked client gets the refusal, and the origin hears nothing', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const answer = await exchange(url, handshake('/chat', `X-Forwarded-For: ${VISITOR.blocked}`))
  t.equal(readStatus(answer), 403)
  t.match(answer, 'request_blocked')
  t.strictSame(origin.received, [])
  await lives(t, url)
})

/** For the raw origin it ends as a head does. */
const BODY = 'hello\r\n\r\n'

t.test('an upgrade to something else is ignored, and the origin does not hear of it', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const settings = ['HTTP2-Settings: AAMAAABkAAQBAAAAAAIAAAAA', 'User-Agent: Java-http-client/21.0.2']
  for (const wish of ['h2c', 'TLS/1.2', 'websocket, h2c', 'made-up']) {
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
  t.equal(origin.heads.length, 12)
  t.match(origin.received.join(''), /content-length: 9\r\n[\s\S]*?\r\n\r\nhello/i)
  t.notMatch(origin.received.join(''), /upgrade|http2-settings/i)
})

t.test('HTTP/1.0 has no upgrades', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const answer = await exchange(url, handshake().replace('HTTP/1.1', 'HTTP/1.0'))
  t.match(answer, /^HTTP\/1\.1 200 [\s\S]*ok$/)
  t.notMatch(origin.heads[0], /upgrade/i)
})

t.test('a handshake that is none is refused', async (t) => {
  const { url, origin } = await proxyBefore(t, echo)
  const old = await exchange(url, handshake().replace('Version: 13', 'Version: 8'))
  t.equal(readStatus(old), 426)
  t.match(old, /sec-websocket-version: 13/i)
  t.equal(readStatus(await exchange(url, 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n')), 405)
  t.strictSame(origin.received, [])
  await lives(t, url)
})

t.test('an answer other than 101 is passed on, with framing of our own', async (t) => {
  const refusing: Answer = (socket, head) => {
    if (!/^upgrade: websocket\r$/im.test(head)) socket.write(OK)
    else
      socket.write('HTTP/1.1 401 No\r\nWWW-Authenticate: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n0\r\n\r\n')
  }
  const { url, origin } = await proxyBefore(t, refusing)
  const answer = await exchange(url, handshake())
  t.match(answer, /^HTTP\/1\.1 401 Unauthorized\r\nWWW-Authenticate: x\r\n/)
  t.match(answer, 'who')
  t.match(answer, /connection: close\r\n/i)
  await until(() => origin.open() === 0)
  await lives(t, url)
})

t.test('a refusal larger than any buffer arrives whole', async (t) => {
  const size = 20_000_000
  const { url } = await proxyBefore(t, (socket) => {
    socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${size}\r\n\r\n`)
    socket.write(Buffer.alloc(size, 'x'))
  })
  const client = await dial(url)
  let received = 0
  client.on('data', ({ length }) => {
    received += length
  })
  client.write(handshake())
  await once(client, 'close')
  t.ok(received > size, `${received} bytes`)
})

t.test('an origin behind TLS is asked for by its own name', async (t) => {
  const origin = await openRawOrigin(OK)
  t.teardown(() => origin.close())
  for (const [index, name] of ['localhost', '127.0.0.1'].entries()) {
    const { url } = await proxyBefore(t, OK, { upstream: `https://${name}:${new URL(origin.url).port}` })
    const client = await dial(url)
    client.write(handshake())
    await until(() => (origin.received[index] ?? '') !== '')
    const hello = origin.received[index] ?? ''
    t.strictSame([hello.includes('localhost'), hello.includes('site.example')], [name === 'localhost', false])
    client.destroy()
  }
})

t.test('an end is passed on, with all that came before it', async (t) => {
  let end: Socket | undefined
  const { client } = await tunnel(t, (socket, head) => {
    end = socket
    echo(socket, head)
  })
  const rest = readUntil(client)
  end?.end('x'.repeat(1_000_000))
  t.equal((await rest).length, 1_000_000)
})

t.test('a tunnel that carries nothing is closed', async (t) => {
  const { client, origin } = await tunnel(t, echo, { timeouts: { tunnelIdle: 100 } })
  t.equal(await readUntil(client), '')
  await until(() => origin.open() === 0)
})

t.test('an upgrade while an earlier request is being answered is cut', async (t) => {
  const { url, origin } = await proxyBefore(
    t,
    (socket, head) => void (head.startsWith('GET /slow') || socket.write(OK)),
  )
  const client = await dial(url)
  client.write(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${handshake()}`)
  t.equal(await readUntil(client), '')
  await until(() => origin.open() === 0)
  await lives(t, url)
})
