import type { IncomingHttpHeaders } from 'node:http2'
import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_OPENSSL } from './certificate.ts'
import { answered, begin, openHttp2 } from './http2-client.ts'
import { VISITOR } from './sallyport.ts'
import { type Answer, dial, exchange, get, OK, readStatus, readUntil, send } from './wire.ts'

const LINKS = [
  '</style.css>; rel=preload; as=style, </app.js>; rel=modulepreload',
  '<https://cdn.example>; rel=preconnect; crossorigin',
  '</hero.png>; rel=preload; as=image; imagesrcset="a.png 1x, b.png 2x"; imagesizes="50vw"',
]
const hints = (...fields: readonly string[]): string => ['HTTP/1.1 103 Early Hints', ...fields, '', ''].join('\r\n')
const HINTS = hints(...LINKS.map((link) => `Link: ${link}`))

const splitHeads = (answer: string): readonly (readonly string[])[] => {
  const heads = answer.split('\r\n\r\n').slice(0, -1)
  return heads.map((head) => head.split('\r\n'))
}

async function asked(t: Test, before: string, ...fields: readonly string[]) {
  const { url, errors } = await proxyBefore(t, before + OK)
  const answer = await exchange(url, get('/', ...fields))
  t.match(answer, /\r\n\r\nok$/)
  t.same(errors, [])
  return splitHeads(answer)
}

t.test('what they say of the connection is passed over', async (t) => {
  let closes = 'Connection: close'
  const { url, errors, origin } = await proxyBefore(t, (socket) => {
    socket.write(hints('Link: </a>; rel=preload', closes))
    setImmediate(() => socket.write(OK))
  })
  for (let time = 0; time < 3; time++) t.match(await exchange(url, get('/')), /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/m)
  closes = 'X-A: 1'
  t.match(await exchange(url, get('/')), /\r\n\r\nok$/)
  t.same(errors, [])
  t.equal(origin.received.length, 1, 'the connection is kept, as the final answers say')
  const closing = await proxyBefore(t, (socket) => {
    socket.write(hints('Connection: close') + OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  })
  for (let time = 0; time < 2; time++) t.match(await exchange(closing.url, get('/')), /\r\n\r\nok$/)
  t.same(closing.errors, [])
  t.equal(closing.origin.received.length, 2, 'and ended, where these do')
})

t.test('each goes to a client of HTTP/1.1 as it is, in order, and not without end', async (t) => {
  const heads = await asked(t, HINTS + hints('Link: </b>; rel=preload'))
  t.same(heads.slice(0, 2), [
    ['HTTP/1.1 103 Early Hints', ...LINKS.map((link) => `Link: ${link}`)],
    ['HTTP/1.1 103 Early Hints', 'Link: </b>; rel=preload'],
  ])
  t.equal(heads[2]?.[0], 'HTTP/1.1 200 OK')
  t.equal(heads.length, 3)
  const endless = await asked(t, HINTS.repeat(300))
  t.ok(endless.length > 3 && endless.length < 20, 'and not without end')
})

t.test('before the answer is known, and where it then fails', async (t) => {
  let finish = (): void => {}
  const { url } = await proxyBefore(t, (socket) => {
    socket.write(HINTS)
    finish = () => void socket.write(OK)
  })
  const client = await send(url, get('/'))
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 103 /)
  const rest = readUntil(client)
  finish()
  t.match(await rest, /^HTTP\/1\.1 200 /)
  const failing = await proxyBefore(t, (socket) => void socket.end(`${HINTS}nonsense\r\n\r\n`))
  t.match(await exchange(failing.url, get('/')), /^HTTP\/1\.1 103 [\s\S]*HTTP\/1\.1 502 Bad Gateway/)
  t.equal(failing.errors.length, 1)
})

t.test('only what browsers read of them', async (t) => {
  const more = ['Set-Cookie: a=1', 'Content-Type: text/html', 'Content-Length: 9', 'Sallyport-Action: allow', 'X-A: 1']
  const policies = ["Content-Security-Policy: script-src 'self'", 'Referrer-Policy: no-referrer']
  const [first] = await asked(t, hints('Link: </a>', ...more, ...policies))
  t.same(first?.slice(1), ['Link: </a>', ...policies])
  for (const none of [hints(), hints(...policies), hints('X-A: 1'), hints('Connection: Link', 'Link: </a>')]) {
    t.equal((await asked(t, none)).length, 1, JSON.stringify(none))
  }
  const others = ['100 Continue', '102 Processing', '104 Upload', '199 Odd'].map((status) => `HTTP/1.1 ${status}`)
  const mixed = [...others, 'HTTP/1.1 103 Early Hints', ...others].map((line) => `${line}\r\nLink: </a>\r\n\r\n`)
  t.equal((await asked(t, mixed.join(''))).length, 2, 'other answers before the answer end here')
})

t.test('a 100 that nobody asked for, in pieces, before answers to bodies and over a used connection', async (t) => {
  const answer: Answer = (socket) => {
    const pieces = `HTTP/1.|1 100 Cont|inue\r\nX-A: 1\r|\n\r\n${OK.replace('ent-', 'ent-|')}`.split('|')
    const next = (): void => {
      const piece = pieces.shift()
      if (piece !== undefined) socket.write(piece, () => setImmediate(next))
    }
    next()
  }
  const { url, origin, errors } = await proxyBefore(t, answer)
  const client = await dial(url)
  for (const body of ['', 'x'.repeat(70_000), '']) {
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    t.equal(readStatus(await readUntil(client, /ok$/)), 200)
  }
  client.destroy()
  t.same(errors, [])
  t.equal(origin.heads.length, 3)
})

t.test('to whom they are not passed on', async (t) => {
  const { url } = await proxyBefore(t, HINTS + OK)
  const old = await exchange(url, get('/').replace('HTTP/1.1', 'HTTP/1.0'))
  t.equal(splitHeads(old).length, 1, 'a client of HTTP/1.0')
  const programs = ['python-requests/2.32.3', 'Java/17.0.15', 'Debian APT-HTTP/1.3 (2.6.1)', 'w3m/0.5.3', 'another']
  for (const field of [
    `X-Forwarded-For: ${VISITOR.allowed}`,
    'Via: 1.1 front',
    'Forwarded: for=192.0.2.1',
    ...programs.map((name) => `User-Agent: ${name}`),
  ]) {
    t.equal(splitHeads(await exchange(url, get('/', field))).length, 1, field)
  }
  for (const agent of ['curl/8.5.0', 'node', 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'])
    t.equal(splitHeads(await exchange(url, get('/', `User-Agent: ${agent}`))).length, 2, agent)
  const refused = await exchange(url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`))
  t.match([readStatus(refused), splitHeads(refused).length], [403, 1])
})

t.test('over HTTP/2', { skip: NO_OPENSSL }, async (t) => {
  const { session, errors } = await openHttp2(t, hints('Link: </a>', 'Set-Cookie: a=1', 'Link: </b>').repeat(2) + OK)
  for (const headers of [{}, { 'x-forwarded-for': VISITOR.allowed }, { ':method': 'HEAD' }]) {
    const stream = begin(session, headers)
    const heard: IncomingHttpHeaders[] = []
    stream.on('headers', (fields) => heard.push(fields))
    const { status, code } = await answered(stream)
    t.same([status, code], [200, 0])
    t.equal(heard.length, 2)
    for (const fields of heard) t.match(fields, { ':status': 103, link: '</a>, </b>', 'set-cookie': undefined })
  }
  t.same(errors, [])
})
