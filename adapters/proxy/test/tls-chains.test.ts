import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCertificate } from '../src/edge/certificates.ts'
import { examineTls } from '../src/examine.ts'
import { certificateFolder, keyOn, makeCertificate, AUTHORITY as more, NO_OPENSSL } from './certificate.ts'
import { withTls } from './tls-before.ts'

const skip = NO_OPENSSL
const SITE = ['site.example']

/** Reads the day on which a certificate of a file ends. */
function readDay(file: string): string {
  return new Date(new X509Certificate(readFileSync(file)).validTo).toISOString().slice(0, 10)
}

/** Writes a file of these texts, or of the certificates in these files. */
function writeChain(folder: string, ...parts: readonly string[]): string {
  const cert = join(folder, 'chain.pem')
  writeFileSync(cert, parts.map((part) => (part.startsWith(folder) ? readFileSync(part, 'utf8') : part)).join(''))
  return cert
}

t.test('the second certificate issued the first, or clients find no path', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const root = makeCertificate(folder, ['root'], { id: 'root', days: 20, more })
  const inner = { names: ['inner'], issuer: root, secret: keyOn('P-256'), more }
  const fresh = makeCertificate(folder, inner.names, { id: 'fresh', ...inner, days: 50 })
  const { cert: rekeyed } = makeCertificate(folder, inner.names, { id: 'rekeyed', issuer: root, more })
  const leaf = makeCertificate(folder, SITE, { issuer: fresh })
  const good = [{ state: 'ok', found: `covers site.example and is valid until ${readDay(leaf.cert)}.` }]
  const warns = (second: string, issuer = 'inner') => {
    const found = `has ${second} as its second certificate, but the first was issued by ${issuer}.`
    return [{ state: 'warn', found, path: ['tls', 'certificates', 0, 'cert'] }]
  }
  for (const [parts, expected] of [
    [[leaf.cert], good],
    [[leaf.cert, fresh.cert], good],
    [[leaf.cert, leaf.cert, fresh.cert], good],
    [[leaf.cert, fresh.cert, root.cert], good],
    [['Subject: site\r\n', leaf.key, leaf.cert, fresh.cert], good],
    [[leaf.cert, root.cert], warns('root')],
    [[leaf.cert, root.cert, fresh.cert], warns('root')],
    [[leaf.cert, rekeyed], warns('inner', 'a CA of this name with another key')],
  ] as const) {
    const cert = writeChain(folder, ...parts)
    const found = await examineTls({ certificates: [{ cert, key: leaf.key }] })
    const said = parts.map((part) => part.replace(folder, '')).join(' ')
    t.match(found, expected, said)
    t.equal(found.length, expected.length, said)
  }
})

t.test('a certificate whose uses are named is for servers, or clients refuse it', { skip }, async (t) => {
  const folder = certificateFolder(t)
  for (const [uses, state] of [
    ['clientAuth', 'warn'],
    ['codeSigning,emailProtection', 'warn'],
    ['serverAuth', 'ok'],
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

t.test('a start names each fault of a chain', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const root = makeCertificate(folder, ['root'], { id: 'root', more })
  const leaf = makeCertificate(folder, SITE, { issuer: root, more: ['extendedKeyUsage=clientAuth'] })
  const cert = writeChain(folder, leaf.cert, root.cert)
  const { notices } = await withTls(t, { tls: { certificates: [{ cert, key: leaf.key }] } })
  t.same(notices, [
    `tls: ${cert} is not a server certificate: its extended key usage lacks serverAuth. The proxy serves it anyway`,
  ])
})

t.test('a chain that cannot be read is named by the certificate with the fault', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const issuer = makeCertificate(folder, ['inner'], { id: 'inner', more })
  const leaf = makeCertificate(folder, SITE, { issuer })
  const [text, inner] = [leaf, issuer].map(({ cert }) => readFileSync(cert, 'utf8')) as [string, string]
  const cert = join(folder, 'chain.pem')
  const broken = inner.replace(/\n[^-]{20}/, '\n')
  for (const [parts, said] of [
    [[inner, text], `the server certificate must be first in ${cert}, but certificate 2 matches the key ${leaf.key}`],
    [[text, broken], `certificate 2 of ${cert} is truncated or not a certificate`],
    [[text, inner, inner.slice(0, 200)], `certificate 3 of ${cert} is truncated or not a certificate`],
    [[broken, text], `certificate 1 of ${cert} is truncated or not a certificate`],
    [
      [text.trimEnd(), inner],
      `certificate 1 of ${cert} has text after its end marker. Start the next certificate on a new line`,
    ],
    [[broken], `${cert} is not a certificate in PEM`],
    [[inner], `${cert} does not match the key ${leaf.key}`],
    [['# ', text], `${cert} is not a certificate in PEM`],
  ] as const) {
    writeChain(folder, ...parts)
    await t.rejects(readCertificate({ cert, key: leaf.key }), { of: 'cert', message: `tls: ${said}` })
  }
  writeChain(
    folder,
    `\ufeff${text.replaceAll('\n', '\r\n')}`,
    '# -----BEGIN CERTIFICATE-----\n',
    inner.replaceAll('CERT', 'X509 CERT'),
  )
  t.match(await readCertificate({ cert, key: leaf.key }), { names: SITE, faults: [] })
})
