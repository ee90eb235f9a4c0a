import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { examineTls } from '../src/examine.ts'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import {
  AUTHORITY,
  certificateFolder,
  keyOn,
  type MadeCertificate,
  makeCertificate,
  NO_OPENSSL,
} from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { askedOver, secured, servedNames, withTls } from './tls-client.ts'
import { exchange, get, readStatus } from './wire.ts'

const skip = NO_OPENSSL
const KERNEL = '/proc/version is in a file system of the kernel'

t.test('several certificates by server name, on all curves that clients take or of RSA', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const secrets = [keyOn('P-256'), keyOn('P-384'), keyOn('P-521')]
  for (const type of ['rsa', 'rsa-pss'] as const)
    secrets.push(generateKeyPairSync(type as 'rsa', { modulusLength: 2048 }).privateKey)
  const names = [['site.example'], ['*.shop.example', 'shop.example'], ['2.example'], ['3.example'], ['4.example']]
  const certificates = secrets.map((secret, at) => makeCertificate(folder, names[at] ?? [], { id: `${at}`, secret }))
  const { url, notices } = await withTls(t, { tls: { certificates } })
  for (const [servername, at] of [
    ['site.example', 0],
    ['SHOP.example', 1],
    ['a.shop.example', 1],
    ['a.b.shop.example', 0],
    ['elsewhere.example', 0],
    [undefined, 0],
    ['2.example', 2],
    ['3.example', 3],
    ['4.example', 4],
  ] as const) {
    t.equal(await servedNames(url, servername), names[at]?.map((name) => `DNS:${name}`).join(', '), String(servername))
  }
  t.same(notices, [])
})

t.test('a certificate that is written over is served soon, and at a reload', { skip }, async (t) => {
  const { url, proxy, folder, notices } = await withTls(t)
  const next = makeCertificate(folder, ['next.example'], { id: 'next' })
  copyFileSync(next.cert, join(folder, 'site.pem'))
  copyFileSync(next.key, join(folder, 'site.key'))
  while ((await servedNames(url)) !== 'DNS:next.example') await delay(50)
  writeFileSync(join(folder, 'site.key'), 'no key')
  while (notices.length === 0) await delay(50)
  t.match(notices[0], /site\.key is not a private key in PEM .*\. The previous certificate is still served$/)
  t.equal(await servedNames(url), 'DNS:next.example', 'a bad one changes nothing')
  await proxy.reload({ tls: { certificates: [makeCertificate(folder, ['third.example'], { id: 'third' })] } })
  t.equal(await servedNames(url), 'DNS:third.example')
})

t.test('bad certificates: one sentence each, and the rest goes on', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const good = makeCertificate(folder, ['site.example'])
  const other = makeCertificate(folder, ['other.example'], { id: 'other' })
  const expired = makeCertificate(folder, ['old.example'], { id: 'old', days: -3 })
  const early = makeCertificate(folder, ['soon.example'], { id: 'soon', days: 60, begins: 30 })
  const gone = join(folder, 'gone.pem')
  const certificates = [{ cert: good.cert, key: other.key }, expired, { cert: gone, key: good.key }, early, good]
  const { url, notices } = await withTls(t, { tls: { certificates } })
  const said = [`${good.cert} does not match the key ${other.key}`, `${expired.cert} expired`, `${gone} does not exist`]
  t.equal(notices.length, 4)
  t.ok(notices.some((line) => /soon\.pem is not valid before 20\d\d-\d\d-\d\d. The proxy serves it anyway$/.test(line)))
  for (const one of said) t.ok(notices.some((line) => line.startsWith(`tls: ${one}`)))
  t.equal(await servedNames(url, 'soon.example'), 'DNS:soon.example')
  const socket = await secured(url, { servername: 'site.example' })
  t.equal(readStatus(await askedOver(socket, get('/'))), 200)
})

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }
const startWith = (certificates: readonly MadeCertificate[], onNotice?: ProxyOptions['onNotice']) =>
  openProxy(fakeSallyport(), { ...LOOPBACK, tls: { certificates }, onNotice })

t.test('a start that has no certificate to serve is refused, in one sentence', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const good = makeCertificate(folder, ['site.example'])
  const other = makeCertificate(folder, ['other.example'], { id: 'other' })
  for (const [cert, key, said] of [
    ['/nowhere/site.pem', good.key, '/nowhere/site.pem does not exist'],
    [good.cert, '/nowhere/site.key', '/nowhere/site.key does not exist'],
    [good.cert, other.key, `${good.cert} does not match the key ${other.key}`],
    [good.key, good.cert, `${good.key} is not a certificate in PEM`],
    [folder, good.key, `${folder} is a folder`],
    ...(existsSync('/proc/version') ? [['/proc/version', good.key, KERNEL] as const] : []),
    ['/dev/zero', good.key, '/dev/zero is not a regular file'],
  ] as const) {
    const notices: string[] = []
    const starting = startWith([{ cert, key }], (line) => notices.push(line))
    await t.rejects(starting, { code: 'cannot_listen', message: `tls: ${said}` })
    t.same(notices, [])
  }
})

t.test('a certificate with a key that no handshake can use is served by nobody', { skip }, async (t) => {
  const { url, proxy, folder, notices } = await withTls(t)
  const good = { cert: join(folder, 'site.pem'), key: join(folder, 'site.key') }
  const sound = makeCertificate(folder, ['sound.example'], { id: 'sound' })
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey
  const keys = [
    { secret: keyOn('secp224r1'), kind: 'secp224r1' },
    { secret: keyOn('secp256k1'), kind: 'secp256k1' },
    { secret: dsa, kind: 'DSA' },
  ]
  for (const { secret, kind } of keys) {
    const bad = makeCertificate(folder, ['site.example'], { id: kind, secret })
    const said = `tls: ${bad.cert} has a key that no client supports (${kind})`
    await t.rejects(proxy.reload({ tls: { certificates: [bad] } }), { code: 'invalid_config', message: said })
    await t.rejects(startWith([bad]), { code: 'cannot_listen', message: said })
    const found = await examineTls({ certificates: [sound, bad] })
    t.same(found[1]?.path, ['tls', 'certificates', 1, 'cert'])
    t.match(found, [{ state: 'ok' }, { state: 'fail', found: `${said.slice('tls: '.length)}.` }])
    notices.length = 0
    copyFileSync(bad.cert, good.cert)
    copyFileSync(bad.key, good.key)
    while (notices.length === 0) await delay(50)
    t.match(notices[0], `site.pem has a key that no client supports (${kind}). The previous certificate is still`)
    t.equal(readStatus(await askedOver(await secured(url), get('/'))), 200)
  }
})

t.test('what is wrong with a pair is reported at the file that it is wrong with', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const good = makeCertificate(folder, ['site.example'])
  const { privateKey: secret } = generateKeyPairSync('rsa', { modulusLength: 512 })
  const short = makeCertificate(folder, ['site.example'], { id: 'short', secret, more: AUTHORITY })
  const leaf = makeCertificate(folder, ['site.example'], { id: 'leaf', issuer: short })
  const chain = { cert: join(folder, 'chain.pem'), key: leaf.key }
  writeFileSync(chain.cert, `${readFileSync(leaf.cert, 'utf8')}${readFileSync(short.cert, 'utf8')}`)
  const weak = makeCertificate(folder, ['site.example'], { id: 'weak', digest: 'md5', issuer: short })
  const found = await examineTls({
    certificates: [{ ...good, key: good.cert }, { ...good, key: join(folder, 'none') }, short, chain, weak],
  })
  // Node 22 and later leave the digest of a server's own certificate to its clients.
  const digest = found[4]?.state === 'ok' ? {} : { found: /weak\.pem is signed with a digest that is too weak/ }
  t.match(found, [
    { state: 'fail', path: ['tls', 'certificates', 0, 'key'], found: /is not a private key in PEM/ },
    { state: 'fail', path: ['tls', 'certificates', 1, 'key'], found: /none does not exist/ },
    { path: ['tls', 'certificates', 2, 'cert'], found: /short\.pem has a key that is too short: RSA needs 2048/ },
    { path: ['tls', 'certificates', 3, 'cert'], found: /chain\.pem has a CA whose key is too short: RSA needs 2048/ },
    digest,
  ])
})

t.test('a reload with one bad certificate changes nothing at all', { skip }, async (t) => {
  const { url, proxy, folder, notices } = await withTls(t)
  const good = { cert: join(folder, 'site.pem'), key: join(folder, 'site.key') }
  const other = makeCertificate(folder, ['other.example'], { id: 'other' })
  const bad = { cert: other.cert, key: good.key }
  for (const certificates of [[bad], [good, bad], [other, { ...good, cert: join(folder, 'gone.pem') }]]) {
    const reloading = proxy.reload({ tls: { certificates }, methods: ['PROPFIND'], limits: { bodyBytes: 1 } })
    await t.rejects(reloading, { code: 'invalid_config', message: /^tls: .* does not (match|exist)/ })
    t.equal(await servedNames(url, 'other.example'), 'DNS:site.example')
    const socket = await secured(url, { servername: 'site.example' })
    t.equal(readStatus(await askedOver(socket, get('/').replace('GET', 'PROPFIND'))), 405, 'nor the rest')
  }
  t.same(notices, [])
  await proxy.reload({ tls: { certificates: [good, other] } })
  t.equal(await servedNames(url, 'other.example'), 'DNS:other.example')
})

t.test('while its certificate is awaited the plain listener goes on, and readiness says it', { skip }, async (t) => {
  const acme = { folder: certificateFolder(t), orders: false, domains: ['site.example'], email: 'ops@site.example' }
  const { url, proxy, refused } = await withTls(t, { tls: { certificates: undefined, acme }, http: '127.0.0.1:0' })
  await t.rejects(secured(url))
  t.same(refused, ['handshake'])
  t.equal(readStatus(await exchange(proxy.httpUrl ?? '', get('/'))), 200)
  const ready = await fetch(`${proxy.adminUrl}/readyz`)
  t.equal(ready.status, 503)
  t.same(await ready.json(), { status: 'no certificate' })
})
