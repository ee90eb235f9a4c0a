import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import type { ServiceEvent } from '@sallyport/engine'
import t from 'tap'
import { readCertificate } from '../src/edge/certificates.ts'
import { watchExpiry } from '../src/edge/watched-certificates.ts'
import { examineTls } from '../src/examine.ts'
import { certificateFolder, keyOn, makeCertificate, AUTHORITY as more, NO_OPENSSL } from './certificate.ts'
import { withTls } from './tls-client.ts'

const skip = NO_OPENSSL
const SITE = ['site.example']

/** The day on which a certificate of a file ends, or begins. */
function readDay(file: string, date: 'validFrom' | 'validTo' = 'validTo'): string {
  return new Date(new X509Certificate(readFileSync(file))[date]).toISOString().slice(0, 10)
}

/** Writes a file of these texts, or of the certificates in these files. */
function writeChain(folder: string, ...parts: readonly string[]): string {
  const cert = join(folder, 'chain.pem')
  writeFileSync(cert, parts.map((part) => (part.startsWith(folder) ? readFileSync(part, 'utf8') : part)).join(''))
  return cert
}

t.test('each certificate that clients need has its dates, and no other one', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const root = makeCertificate(folder, ['root'], { id: 'root', days: 20, more })
  const old = makeCertificate(folder, ['root'], { id: 'old', days: -3, more })
  const inner = { names: ['inner'], issuer: root, secret: keyOn('P-256'), more }
  const fresh = makeCertificate(folder, inner.names, { id: 'fresh', ...inner, days: 50 })
  const { cert: spent } = makeCertificate(folder, inner.names, { id: 'spent', ...inner, days: -3 })
  const { cert: soon } = makeCertificate(folder, inner.names, { id: 'soon', ...inner, days: 5, begins: -90 })
  const { cert: early } = makeCertificate(folder, inner.names, { id: 'early', ...inner, days: 90, begins: 3 })
  const { cert: rekeyed } = makeCertificate(folder, inner.names, { id: 'rekeyed', issuer: root, more })
  const leaf = makeCertificate(folder, SITE, { issuer: fresh })
  const { cert: other } = makeCertificate(folder, ['other'], { id: 'other', days: -3, issuer: root, more })
  const until = (file: string) => [{ state: 'ok', found: `covers site.example and is valid until ${readDay(file)}.` }]
  const ends = `has inner in its chain, which expired on ${readDay(spent)}.`
  const begins = `has inner in its chain, which is not valid before ${readDay(early, 'validFrom')}.`
  const wrong = (second: string, issuer = 'inner') =>
    `has ${second} as its second certificate, but the first was issued by ${issuer}.`
  const warns = (found: string) => [{ state: 'warn', found, path: ['tls', 'certificates', 0, 'cert'] }]
  for (const [parts, expected] of [
    [[leaf.cert], until(leaf.cert)],
    [[leaf.cert, leaf.cert, fresh.cert], until(leaf.cert)],
    [[leaf.cert, fresh.cert, root.cert], until(leaf.cert)],
    [[leaf.cert, fresh.cert, old.cert], until(leaf.cert)],
    [[leaf.cert, fresh.cert, other], until(leaf.cert)],
    [[leaf.cert, spent, fresh.cert], until(leaf.cert)],
    [[leaf.cert, soon], until(soon)],
    [[leaf.cert, spent], warns(ends)],
    [['Subject: site\r\n', leaf.key, leaf.cert, spent, old.cert], warns(ends)],
    [[leaf.cert, early, root.cert], warns(begins)],
    [[leaf.cert, root.cert, fresh.cert], warns(wrong('root'))],
    [[leaf.cert, rekeyed], warns(wrong('inner', 'a CA of this name with another key'))],
  ] as const) {
    const cert = writeChain(folder, ...parts)
    const found = await examineTls({ certificates: [{ cert, key: leaf.key }] })
    t.match([found.length, found], [expected.length, expected], parts.map((part) => part.replace(folder, '')).join(' '))
  }
})

t.test('a root that clients have may be there with the signature of an older one', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const known = rootCertificates
    .map((pem) => new X509Certificate(pem))
    .find((one) => one.publicKey.asymmetricKeyType === 'ec' && /^C=\w+\nO=[\w ]+\nCN=[\w ]+$/.test(one.subject))
  if (known === undefined) throw new Error('Node has no such root')
  const subject = `/${known.subject.split('\n').join('/')}`
  // This certificate has another key; certificates name their issuer alone.
  const made = makeCertificate(folder, ['known'], { id: 'known', subject, more })
  const inner = makeCertificate(folder, ['inner'], { id: 'inner', issuer: made, more })
  const leaf = makeCertificate(folder, SITE, { issuer: inner })
  const older = makeCertificate(folder, ['older'], { id: 'older', more })
  const crossSign = (one: X509Certificate, name: string): string => {
    const [file, cert] = [join(folder, 'public.pem'), join(folder, name)]
    writeFileSync(file, one.publicKey.export({ type: 'spki', format: 'pem' }))
    const request = ['-req', '-in', join(folder, 'known.csr'), '-force_pubkey', file, '-days', '1']
    const signed = ['-CA', older.cert, '-CAkey', older.key, '-CAcreateserial', '-out', cert]
    execFileSync('openssl', ['x509', ...request, ...signed], { stdio: 'ignore' })
    return cert
  }
  const ofKnown = crossSign(known, 'of-known.pem')
  const ofOther = crossSign(new X509Certificate(readFileSync(made.cert)), 'of-other.pem')
  for (const [third, day] of [
    [ofKnown, readDay(leaf.cert)],
    [ofOther, readDay(ofOther)],
  ] as const) {
    const cert = writeChain(folder, leaf.cert, inner.cert, third)
    const { notAfter } = await readCertificate({ cert, key: leaf.key })
    t.equal(new Date(notAfter).toISOString().slice(0, 10), day)
  }
})

t.test('a certificate whose uses are named is for servers, or clients refuse it', { skip }, async (t) => {
  const folder = certificateFolder(t)
  for (const [uses, state] of [
    ['clientAuth', 'warn'],
    ['clientAuth,serverAuth', 'ok'],
    ['anyExtendedKeyUsage', 'ok'],
  ] as const) {
    const pair = makeCertificate(folder, SITE, { more: [`extendedKeyUsage=${uses}`] })
    const [only, ...others] = await examineTls({ certificates: [pair] })
    t.equal(only?.state, state, uses)
    if (state === 'warn') t.match(only?.found, 'is not a server certificate: its extended key usage lacks serverAuth.')
    t.same(others, [])
  }
})

t.test('a start names each fault of a chain, and the watch the certificate that ends first', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const root = makeCertificate(folder, ['root'], { id: 'root', more })
  const inner = makeCertificate(folder, ['inner'], { id: 'inner', days: 2, begins: -60, issuer: root, more })
  const leaf = makeCertificate(folder, SITE, { issuer: inner, more: ['extendedKeyUsage=clientAuth'] })
  const cert = writeChain(folder, leaf.cert, inner.cert)
  const { notices } = await withTls(t, { tls: { certificates: [{ cert, key: leaf.key }] } })
  t.same(notices, [
    `tls: ${cert} is not a server certificate: its extended key usage lacks serverAuth. The proxy serves it anyway`,
  ])
  const raised: ServiceEvent[] = []
  const watch = watchExpiry((event) => void raised.push(event))
  t.teardown(watch.close)
  watch.look([await readCertificate({ cert, key: leaf.key })])
  const text = /^The certificate of site\.example \(\S+\) has inner in its chain, which expires on 20[\d-]+ and has not/
  t.match(raised, [{ text }])
})

t.test('a chain that cannot be read is named by the certificate with the fault', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const issuer = makeCertificate(folder, ['inner'], { id: 'inner', more })
  const leaf = makeCertificate(folder, SITE, { issuer })
  const [text, inner] = [leaf, issuer].map(({ cert }) => readFileSync(cert, 'utf8')) as [string, string]
  const cert = join(folder, 'chain.pem')
  const onNewLine = 'certificate on a new line'
  const broken = inner.replace(/\n[^-]{20}/, '\n')
  for (const [parts, said] of [
    [[inner, text], `the server certificate must be first in ${cert}, but certificate 2 matches the key ${leaf.key}`],
    [[text, broken], `certificate 2 of ${cert} is truncated or not a certificate`],
    [[text, inner, inner.slice(0, 200)], `certificate 3 of ${cert} is truncated or not a certificate`],
    [[text.trimEnd(), inner], `certificate 1 of ${cert} has text after its end marker. Start the next ${onNewLine}`],
    [[inner], `${cert} does not match the key ${leaf.key}`],
    [['# ', text], `${cert} is not a certificate in PEM`],
  ] as const) {
    writeChain(folder, ...parts)
    await t.rejects(readCertificate({ cert, key: leaf.key }), { of: 'cert', message: `tls: ${said}` })
  }
  const remark = '# -----BEGIN CERTIFICATE-----\n'
  writeChain(folder, `\ufeff${text.replaceAll('\n', '\r\n')}`, remark, inner.replaceAll('CERT', 'X509 CERT'))
  t.match(await readCertificate({ cert, key: leaf.key }), { names: SITE, faults: [] })
})
