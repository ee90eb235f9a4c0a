import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import t from 'tap'
import { examineTls } from '../src/examine.ts'
import { certificateFolder, keyOn, makeCertificate, NO_OPENSSL } from './certificate.ts'

/** Makes an authority whose key is short, and a certificate of it, signed with MD5, for a key that is there. */
function makeWeak(folder: string, key: string) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 512 })
  writeFileSync(join(folder, 'ca.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const run = (line: string): void => void execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' })
  run('req -x509 -new -key ca.key -subj /CN=ca -out ca.pem')
  run(`req -new -key ${key} -subj /CN=site.example -out weak.csr`)
  run('x509 -req -in weak.csr -CA ca.pem -CAkey ca.key -CAcreateserial -md5 -out weak.pem')
  return { ca: join(folder, 'ca.pem'), cert: join(folder, 'weak.pem') }
}

t.test('a weak authority, and a pair that is none, are faults of the certificate', { skip: NO_OPENSSL }, async (t) => {
  const folder = certificateFolder(t)
  const good = makeCertificate(folder, ['site.example'])
  const other = makeCertificate(folder, ['site.example'], { id: 'other', secret: keyOn('P-256') })
  const weak = makeWeak(folder, good.key)
  const chain = join(folder, 'chain.pem')
  writeFileSync(chain, `${readFileSync(good.cert, 'utf8')}${readFileSync(weak.ca, 'utf8')}`)
  const isServed = (cert: string): boolean => {
    try {
      createSecureContext({ cert: readFileSync(cert), key: readFileSync(good.key) })
      return true
    } catch {
      return false
    }
  }
  const digest = [weak.cert, good.key, /weak\.pem is signed with a digest that is too weak. Use SHA-256\.$/] as const
  const pairs = [
    // Node 22 and later leave the digest of a server's own certificate to its clients.
    ...(isServed(weak.cert) ? [] : [digest]),
    [chain, good.key, /chain\.pem has a CA whose key is too short: RSA needs 2048 bits\.$/],
    [good.key, good.key, /is not a certificate in PEM\.$/],
    [good.cert, other.key, /does not match the key/],
  ] as const
  t.match(
    await examineTls({ certificates: pairs.map(([cert, key]) => ({ cert, key })) }),
    pairs.map(([, , found], at) => ({ path: ['tls', 'certificates', at, 'cert'], found })),
  )
})
