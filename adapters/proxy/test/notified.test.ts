import type { ServiceEvent } from '@sallyport/engine'
import t from 'tap'
import type { Certificate } from '../src/edge/certificates.ts'
import { watchExpiry } from '../src/edge/watched-certificates.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, exchange, get, OK, openRawOrigin, readStatus } from './wire.ts'

function raisingSallyport() {
  const raised: ServiceEvent[] = []
  const raise = (event: ServiceEvent): void => void raised.push(event)
  return { raised, sallyport: Object.assign(fakeSallyport(), { raise }) }
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
  const again = await openRawOrigin(OK, port)
  t.teardown(() => again.close())
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  t.same(brief(raised).slice(1), [['origin', other.url, true]])
})

t.test('one broken page is no dead origin, and three in a row are one', async (t) => {
  const { raised, sallyport } = raisingSallyport()
  const broken: Answer = (socket, head) => {
    if (head.startsWith('GET /cut')) socket.destroy()
    else if (head.startsWith('GET /odd')) socket.end('no HTTP\r\n\r\n')
    else if (!head.startsWith('GET /late')) socket.write(OK)
  }
  const { url, origin } = await proxyBefore(t, broken, { sallyport, timeouts: { originHeaders: 100 } })
  const paths = ['/cut', '/odd', '/late']
  for (const path of paths) {
    for (let turn = 0; turn < 6; turn++) t.ok(readStatus(await exchange(url, get(`${path}?${turn}`))) >= 502)
    t.same(raised, [], path)
    t.equal(readStatus(await exchange(url, get('/'))), 200)
  }
  for (const path of paths) await exchange(url, get(path))
  t.same(brief(raised), [['origin', origin.url, false]])
})

const DAY_MS = 86_400_000

function madeCertificate(days: number, lifeDays: number, file = 'site.pem'): Certificate {
  const [notAfter, life] = [days * DAY_MS, lifeDays * DAY_MS]
  const dates = { notAfter, notBefore: notAfter - life, life }
  return { file, faults: [], names: ['site.example'], ...dates } as Partial<Certificate> as Certificate
}

t.test('a certificate is notified 14 days, three days and no days before its end, and once replaced', async (t) => {
  const raised: ServiceEvent[] = []
  let day = 0
  const now = (): number => day * DAY_MS
  const watch = watchExpiry((event) => void raised.push(event), now)
  t.teardown(watch.close)
  const raisedOn = (on: number, certificate: Certificate): string => {
    const before = raised.length
    day = on
    for (let look = 0; look < 2; look++) watch.look([certificate])
    return String(raised.slice(before).map(({ text }) => text))
  }
  const one = madeCertificate(90, 90)
  const named = 'The certificate of site.example (site.pem)'
  t.equal(raisedOn(75.9, one), '')
  t.equal(raisedOn(76.1, one), `${named} expires on 1970-04-01.`)
  t.equal(raisedOn(80, one), '')
  t.equal(raisedOn(87.5, one), `${named} expires on 1970-04-01 and has not been renewed.`)
  t.equal(raisedOn(90, one), `${named} expired on 1970-04-01.`)
  t.equal(raisedOn(91, madeCertificate(180, 90)), `${named} is valid until 1970-06-30.`)
  t.equal(raised.at(-1)?.over, true)
  const short = madeCertificate(200, 6, 'short.pem')
  t.equal(raisedOn(198, short), '', 'one of six days is not raised while ours are renewed')
  t.not(raisedOn(198.6, short), '')
})

t.test('a proxy with a certificate that expires soon raises it at its start', { skip: NO_OPENSSL }, async (t) => {
  const { raised, sallyport } = raisingSallyport()
  const folder = certificateFolder(t)
  const old = makeCertificate(folder, ['old.example'], { days: 5, begins: -60, id: 'old' })
  const fresh = makeCertificate(folder, ['new.example'], { days: 80, id: 'new' })
  await proxyBefore(t, OK, { sallyport, tls: { certificates: [old, fresh] } })
  t.match(raised, [{ kind: 'certificate', about: old.cert, text: /old\.example .* expires on/ }])
  t.equal(raised.length, 1)
})
