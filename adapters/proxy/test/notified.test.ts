import { createServer } from 'node:net'
import type { ServiceEvent } from '@sallyport/engine'
import t, { type Test } from 'tap'
import type { Certificate } from '../src/edge/certificates.ts'
import { watchExpiry } from '../src/edge/expiry-watch.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, exchange, get, OK, openRawOrigin, readStatus, until } from './wire.ts'

/** A made internet that keeps its events. */
function raisingSallyport() {
  const raised: ServiceEvent[] = []
  return {
    raised,
    sallyport: Object.assign(fakeSallyport(), {
      raise: (event: ServiceEvent) => void raised.push(event),
    }),
  }
}

const brief = (raised: readonly ServiceEvent[]) => raised.map(({ kind, about, over }) => [kind, about, over === true])

t.test('an origin that dies is raised once, and that it answers again, also after a reload', async (t) => {
  const { raised, sallyport } = raisingSallyport()
  const { url, proxy } = await proxyBefore(t, OK, { sallyport })
  const other = await openRawOrigin(OK)
  await proxy.reload({ upstream: other.url })
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  t.same(raised, [])
  const port = Number(new URL(other.url).port)
  await other.close()
  for (let request = 0; request < 6; request++) t.equal(readStatus(await exchange(url, get('/'))), 502)
  t.same(brief(raised), [['origin', other.url, false]])
  // Its members are others from here on.
  await proxy.reload({ upstream: other.url })
  await reopen(t, port)
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  t.same(brief(raised), [
    ['origin', other.url, false],
    ['origin', other.url, true],
  ])
})

t.test('one broken page is no dead origin, and three in a row are one', async (t) => {
  const { raised, sallyport } = raisingSallyport()
  const broken: Answer = (socket, head) =>
    void (/^GET .(?:late|odd|cut)/.test(head)
      ? head.startsWith('GET /cut')
        ? socket.destroy()
        : head.startsWith('GET /odd') && socket.end('no HTTP\r\n\r\n')
      : socket.write(OK))
  const { url, origin } = await proxyBefore(t, broken, { sallyport, timeouts: { originHeaders: 100 } })
  for (const path of ['/cut', '/odd', '/late']) {
    for (let turn = 0; turn < 6; turn++) t.ok(readStatus(await exchange(url, get(`${path}?${turn}`))) >= 502)
    t.same(raised, [], path)
    t.equal(readStatus(await exchange(url, get('/'))), 200)
  }
  for (const path of ['/cut', '/odd', '/late']) await exchange(url, get(path))
  t.same(brief(raised), [['origin', origin.url, false]])
})

/** An origin at a port that another one had. */
async function reopen(t: Test, port: number): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => socket.write(OK))
  }).listen(port, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
}

t.test('a health check that fails is raised, and one that is good again', async (t) => {
  const { raised, sallyport } = raisingSallyport()
  let healthy = true
  const origin = await openRawOrigin((socket) => void socket.write(healthy ? OK : OK.replace('200 OK', '503 No')))
  t.teardown(() => origin.close())
  const { proxy } = await proxyBefore(t, OK, { sallyport })
  const health = { path: '/healthz', interval: 10, timeout: 5_000 }
  await proxy.reload({ routes: [{ upstreams: [origin.url], health }] })
  await until(() => origin.heads.length > 1)
  healthy = false
  await until(() => raised.length === 1)
  healthy = true
  await until(() => raised.length === 2)
  t.match(raised, [
    { kind: 'origin', about: origin.url, details: { reason: 'health checks' } },
    { kind: 'origin', about: origin.url, over: true },
  ])
})

const DAY_MS = 86_400_000

function madeCertificate(days: number, lifeDays: number, file = 'site.pem'): Certificate {
  const notAfter = days * DAY_MS
  const rest = {
    faults: [],
    names: ['site.example'],
    pem: { cert: '', key: '' },
    context: {} as Certificate['context'],
  }
  const life = lifeDays * DAY_MS
  return { file, notAfter, notBefore: notAfter - life, life, ...rest }
}

t.test('a certificate is notified 14 days, three days and no days before its end, and once replaced', async (t) => {
  const raised: ServiceEvent[] = []
  let day = 0
  const watch = watchExpiry(
    (event) => void raised.push(event),
    () => day * DAY_MS,
  )
  t.teardown(watch.close)
  const raisedOn = (on: number, certificate: Certificate): readonly string[] => {
    const before = raised.length
    day = on
    watch.look([certificate])
    watch.look([certificate])
    return raised.slice(before).map(({ text }) => text)
  }
  const one = madeCertificate(90, 90)
  t.same(raisedOn(75.9, one), [])
  t.same(raisedOn(76.1, one), ['The certificate of site.example (site.pem) expires on 1970-04-01.'])
  t.same(raisedOn(80, one), [])
  t.same(raisedOn(87.5, one), [
    'The certificate of site.example (site.pem) expires on 1970-04-01 and has not been renewed.',
  ])
  t.same(raisedOn(90, one), ['The certificate of site.example (site.pem) expired on 1970-04-01.'])
  t.same(raisedOn(91, madeCertificate(180, 90)), [
    'The certificate of site.example (site.pem) is valid until 1970-06-30.',
  ])
  t.equal(raised.at(-1)?.over, true)
  const short = madeCertificate(200, 6, 'short.pem')
  t.same(raisedOn(198, short), [], 'one of six days is not raised while ours are renewed')
  t.equal(raisedOn(198.6, short).length, 1)
})

t.test('a proxy with a certificate that expires soon raises it at its start', { skip: NO_OPENSSL }, async (t) => {
  const { raised, sallyport } = raisingSallyport()
  const folder = certificateFolder(t)
  const [old, fresh] = [
    makeCertificate(folder, ['old.example'], { days: 5, begins: -60, id: 'old' }),
    makeCertificate(folder, ['new.example'], { days: 80, id: 'new' }),
  ]
  const certificates = [old, fresh].map(({ cert, key }) => ({ cert, key }))
  await proxyBefore(t, OK, { sallyport, tls: { certificates } })
  t.match(raised, [{ kind: 'certificate', about: old.cert, text: /old\.example .* expires on/ }])
  t.equal(raised.length, 1)
})
