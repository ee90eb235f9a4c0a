import { type ClientHttp2Stream, connect } from 'node:http2'
import t, { type Test } from 'tap'
import { checkHost } from './check-host.ts'
import { HOSTS, type Host, speaks } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { CLEAR_HTTP2, NO_OPENSSL, type Protocol, protocolsOverTls } from './protocols.ts'
import { madeScene } from './scene.ts'
import type { WireResponse } from './wire.ts'

/* The conformance table over TLS and HTTP/2, for every host that has them: held to the bytes of node:http over HTTP/1.1 in the clear. */
const scene = madeScene()
const ALL = [...HOSTS, ...MORE_HOSTS]

for (const base of ['', '/detect']) {
  t.test(`mounted ${base === '' ? 'at the root' : `under ${base}`}`, async (t) => {
    const expected = new Map<string, WireResponse>()
    const [first] = HOSTS
    if (first !== undefined) await t.test(first.name, (t) => checkHost(t, first, scene, base, expected))
    const check = async (t: Test, over: Protocol) => {
      const hosts = ALL.filter((host) => speaks(host, over))
      t.not(hosts.length, 0)
      for (const host of hosts) await t.test(host.name, (t) => checkHost(t, host, scene, base, expected, over))
    }
    await t.test(CLEAR_HTTP2.name, (t) => check(t, CLEAR_HTTP2))
    await t.test('over TLS', { skip: NO_OPENSSL }, async (t) => {
      for (const over of protocolsOverTls(t)) await t.test(over.name, (t) => check(t, over))
    })
  })
}

t.test('many requests of one HTTP/2 connection', async (t) => {
  await t.test(CLEAR_HTTP2.name, (t) => checkSessions(t, CLEAR_HTTP2))
  await t.test('over TLS', { skip: NO_OPENSSL }, async (t) => {
    for (const over of protocolsOverTls(t)) if (over.http2) await checkSessions(t, over)
  })
})

async function checkSessions(t: Test, over: Protocol) {
  for (const host of ALL.filter((host) => speaks(host, over)))
    await t.test(host.name, (t) => checkSession(t, host, over))
}

/** Many streams at once, some of them left by their client in the middle of a body. */
async function checkSession(t: Test, host: Host, over: Protocol) {
  const running = await host.start(scene.enforcing, '', {}, over)
  t.teardown(() => running.close())
  const scheme = over.certificate === undefined ? 'http' : 'https'
  const session = connect(`${scheme}://127.0.0.1:${running.port}`, { rejectUnauthorized: false })
  t.teardown(() => session.destroy())
  const begin = (address: string, method: string, more = {}) =>
    session.request({ ':method': method, ':path': '/shop', 'x-forwarded-for': address, ...more })
  for (const { address } of [scene.allowed, scene.blocked]) {
    const left = begin(address, 'POST', { 'content-length': '100' }).on('error', () => {})
    await new Promise((resolve) => left.write('{"cart":', resolve))
    const closed = new Promise((resolve) => left.once('close', resolve))
    left.close(8)
    await closed
  }
  const asked = ['GET', 'HEAD', 'OPTIONS'].flatMap((method) =>
    [scene.allowed, scene.blocked].map(async ({ address }) => {
      const { status, body } = await readAnswer(begin(address, method).end())
      return [method, status, body === '']
    }),
  )
  t.same(await Promise.all(asked), [
    ['GET', 200, false],
    ['GET', 403, false],
    ['HEAD', 200, true],
    ['HEAD', 403, true],
    ['OPTIONS', 200, false],
    ['OPTIONS', 403, false],
  ])
}

async function readAnswer(stream: ClientHttp2Stream): Promise<{ readonly status: unknown; readonly body: string }> {
  const head = new Promise<Readonly<Record<string, unknown>>>((resolve) => stream.once('response', resolve))
  const chunks = await stream.setEncoding('utf8').toArray()
  return { status: (await head)[':status'], body: chunks.join('') }
}
