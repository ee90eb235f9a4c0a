import { once } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type BeforeOptions, openOrigin, proxyBefore } from './behind.ts'
import { NO_OPENSSL } from './certificate.ts'
import { ask, openHttp2 } from './http2-client.ts'
import { handshake } from './tunnels.ts'
import { type Answer, dial, readUntil, send, until } from './wire.ts'

/** Messages of NTLM: it begins, and ends with the user's name. */
const FIRST = 'TlRMTVNTUAABAAAA'
const CHALLENGE = 'TlRMTVNTUAACAAAA'
const LAST = 'TlRMTVNTUAADAAAA'

const say = (status: string, body: string, ...fields: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...fields, `Content-Length: ${body.length}`, '', body].join('\r\n')
const refuse = (...schemes: readonly string[]): string =>
  say('401 No', 'who', ...schemes.map((scheme) => `WWW-Authenticate: ${scheme}`))

/** An origin that authenticates connections in two legs, as IIS does, or in one by Negotiate. */
function createAuthenticating(): Answer & { readonly connections: Set<Socket> } {
  const users = new Map<Socket, string>()
  const challenged = new Set<Socket>()
  const connections = new Set<Socket>()
  const answer = (socket: Socket, head: string): void => {
    connections.add(socket)
    const [, scheme = '', token = ''] = /\r\nauthorization: *(\w+) (\S+)/i.exec(head) ?? []
    if (/^ntlm$/i.test(scheme) && token === FIRST) {
      challenged.add(socket)
      socket.write(refuse(`NTLM ${CHALLENGE}`))
      return
    }
    if (/^ntlm$/i.test(scheme) && challenged.delete(socket)) users.set(socket, token.slice(LAST.length))
    if (/^negotiate$/i.test(scheme)) users.set(socket, token)
    const user = users.get(socket)
    socket.write(user === undefined ? refuse('Negotiate', 'NTLM') : say('200 OK', `is ${user};`))
  }
  return Object.assign(answer, { connections })
}

async function before(t: Test, options: BeforeOptions = {}) {
  const answer = createAuthenticating()
  const { url } = await proxyBefore(t, answer, { trust: [], ...options })
  return { url, answer }
}

const writeFields = (authorization: string, more: string): string =>
  `Host: a\r\n${authorization && `Authorization: ${authorization}\r\n`}${more && `${more}\r\n`}`

/** Asks over a connection that stays; resolves with the body of its answer. */
async function asks(socket: Socket, authorization = '', more = ''): Promise<string> {
  const answer = readUntil(socket, /(?:who|;)$/)
  socket.write(`GET /a HTTP/1.1\r\n${writeFields(authorization, more)}\r\n`)
  return (await answer).split('\r\n\r\n')[1] ?? ''
}

async function logIn(socket: Socket, user: string, more = ''): Promise<string> {
  await asks(socket, '', more)
  await asks(socket, `NTLM ${FIRST}`, more)
  return asks(socket, `NTLM ${LAST}${user}`, more)
}

t.test("a connection that a client has authenticated is that client's alone", async (t) => {
  const { url } = await before(t)
  const [one, other, third] = await Promise.all([dial(url), dial(url), dial(url)])
  t.equal(await logIn(one, 'ann'), 'is ann;', 'each leg comes over the same connection')
  t.equal(await asks(other), 'who')
  t.equal(await asks(one), 'is ann;', 'it stays authenticated')
  t.equal(await logIn(other, 'bob'), 'is bob;')
  t.same(await Promise.all([one, other, third].map((socket) => asks(socket))), ['is ann;', 'is bob;', 'who'])
  for (const socket of [one, other, third]) socket.destroy()
})

t.test('requests that were pipelined behind a log in', async (t) => {
  const { url } = await before(t)
  const [one, other] = await Promise.all([dial(url), dial(url)])
  const all = readUntil(one, /(?:;[\s\S]*){3}$/)
  one.write(['Negotiate ann', '', ''].map((said) => `GET /a HTTP/1.1\r\n${writeFields(said, '')}\r\n`).join(''))
  const asked: Promise<string>[] = Array.from({ length: 3 }, async () => asks(await dial(url)))
  t.same((await all).match(/is \w+/g), ['is ann', 'is ann', 'is ann'])
  t.same(await Promise.all([...asked, asks(other)]), ['who', 'who', 'who', 'who'])
})

t.test('several servers: legs go to the one that has the connection', async (t) => {
  const answer = createAuthenticating()
  const servers = [await openOrigin(t, answer), await openOrigin(t, answer)]
  const { url } = await before(t, { routes: [{ upstreams: servers.map((server) => server.url) }] })
  const one = await dial(url)
  t.equal(await logIn(one, 'ann'), 'is ann;')
  t.equal(await asks(one), 'is ann;')
  one.destroy()
})

t.test('a connection to the origin ends with its client, and with a limit on connections', async (t) => {
  const { url, answer } = await before(t, { limits: { originConnections: 1 } })
  const open = (): number => [...answer.connections].filter(({ destroyed }) => !destroyed).length
  const one = await dial(url)
  t.equal(await logIn(one, 'ann'), 'is ann;')
  const other = await dial(url)
  t.equal(await asks(other), 'who', 'it makes room for another client')
  await until(() => open() === 1)
  t.equal(await logIn(other, 'bob'), 'is bob;')
  other.destroy()
  await until(() => open() === 0)
})

t.test('a connection that carries several visitors: a proxy in front', async (t) => {
  for (const [trust, more] of [
    [['loopback'], 'X-Forwarded-For: 21.0.0.9'],
    [['loopback'], ''],
    [[], 'X-Forwarded-For: 21.0.0.9'],
    [[], 'Via: 1.1 cdn'],
  ] as const) {
    const { url } = await before(t, { trust })
    const socket = await dial(url)
    t.equal(await asks(socket, 'Negotiate ann', more), 'is ann;')
    t.equal(await asks(socket, '', more.replace('0.9', '0.8')), 'who', 'the next one may be of another visitor')
    t.equal(await asks(await dial(url), '', more), 'who')
  }
})

t.test('a log in whose client leaves, or asks for an upgrade', async (t) => {
  const { url } = await before(t)
  const left = await send(url, `GET /a HTTP/1.1\r\n${writeFields('Negotiate ann', '')}\r\n`)
  await once(left, 'data')
  left.resetAndDestroy()
  const upgrade = await dial(url)
  const asked = readUntil(upgrade, /(?:who|;)$/)
  upgrade.write(handshake('/a', 'Authorization: Negotiate bob'))
  await asked
  for (let turn = 0; turn < 4; turn++) t.equal(await asks(await dial(url)), 'who')
})

t.test('over HTTP/2 it is closed after the answer', { skip: NO_OPENSSL }, async (t) => {
  const { session } = await openHttp2(t, createAuthenticating(), { trust: [] })
  t.equal((await ask(session, { authorization: 'Negotiate ann' })).body, 'is ann;')
  const next = await Promise.all([ask(session), ask(session), ask(session)])
  t.match(next, [{ status: 401 }, { status: 401 }, { status: 401 }])
})
