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

/** A file of these texts, or of the certificates in these files. */
function chainOf(folder: string, ...parts: readonly string[]): string {
  const cert = join(folder, 'chain.pem')
  writeFileSync(cert, parts.map((part) => (part.startsWith(folder) ? readFileSync(part, 'utf8') : part)).join(''))
  return cert
}

t.test('the second certificate has issued the first, or a warning names it', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const root = makeCertificate(folder, ['root'], { id: 'root', days: 20, more })
  const inner = makeCertificate(folder, ['inner'], { id: 'inner', issuer: root, secret: keyOn('P-256'), more })
  const { cert: rekeyed } = makeCertificate(folder, ['inner'], { id: 'rekeyed', issuer: root, more })
  const leaf = makeCertificate(folder, SITE, { issuer: inner })
  const until = new Date(new X509Certificate(readFileSync(leaf.cert)).validTo).toISOString().slice(0, 10)
  const good = [{ state: 'ok', found: `is for site.example, until ${until}.` }]
  const wrong = (second: string, issuer = 'inner') => {
    const found = `has ${second} as its second certificate, which did not issue the first: ${issuer} did.`
    return [{ state: 'warn', found, path: ['tls', 'certificates', 0, 'cert'] }]
  }
  for (const [parts, expected] of [
    [[leaf.cert], good],
    [[leaf.cert, inner.cert], good],
    [[leaf.cert, inner.cert, root.cert], good],
    [[leaf.cert, leaf.cert, inner.cert], good],
    [[leaf.cert, root.cert], wrong('root')],
    [[leaf.cert, root.cert, inner.cert], wrong('root')],
    [[leaf.cert, rekeyed], wrong('inner', 'one with another key')],
  ] as const) {
    const cert = chainOf(folder, ...parts)
    const found = await examineTls({ certificates: [{ cert, key: leaf.key }] })
    const said = parts.map((part) => part.replace(folder, '')).join(' ')
    t.match(found, expected, said)
    t.equal(found.length, expected.length, said)
  }
  const cert = chainOf(folder, leaf.cert, root.cert)
  const { notices } = await withTls(t, { tls: { certificates: [{ cert, key: leaf.key }] } })
  t.match(notices, [/^tls: \S+ has root as its second certificate, .*; it is served all the same$/])
})

t.test('a chain that cannot be read is named by the certificate with the fault', { skip }, async (t) => {
  const folder = certificateFolder(t)
  const issuer = makeCertificate(folder, ['inner'], { id: 'inner', more })
  const leaf = makeCertificate(folder, SITE, { issuer })
  const [text, inner] = [leaf, issuer].map(({ cert }) => readFileSync(cert, 'utf8')) as [string, string]
  const cert = join(folder, 'chain.pem')
  const broken = inner.replace(/\n[^-]{20}/, '\n')
  for (const [parts, said] of [
    [
      [inner, text],
      `the server's certificate must be first in ${cert}: certificate 2 is the one that fits ${leaf.key}`,
    ],
    [[text, broken], `certificate 2 of ${cert} is cut off, or no certificate`],
    [[text, inner, inner.slice(0, 200)], `certificate 3 of ${cert} is cut off, or no certificate`],
    [[broken, text], `certificate 1 of ${cert} is cut off, or no certificate`],
    [[text.trimEnd(), inner], `${cert} cannot be served: bad end line`],
    [[broken], `${cert} is not a certificate in PEM`],
    [[inner], `${cert} does not fit the key ${leaf.key}`],
    [['# ', text], `${cert} is not a certificate in PEM`],
  ] as const) {
    chainOf(folder, ...parts)
    await t.rejects(readCertificate({ cert, key: leaf.key }), { of: 'cert', message: `tls: ${said}` })
  }
  chainOf(
    folder,
    `\ufeff${text.replaceAll('\n', '\r\n')}`,
    '# -----BEGIN CERTIFICATE-----\n',
    inner.replaceAll('CERT', 'X509 CERT'),
  )
  t.match(await readCertificate({ cert, key: leaf.key }), { names: SITE, faults: [] })
})
