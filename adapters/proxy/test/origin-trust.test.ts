import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BOUNDS, openAuthority } from '../src/acme/authority.ts'
import { readTrust } from '../src/origin/address.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'

t.test('every certificate of a file of authorities is read', { skip: NO_OPENSSL }, async (t) => {
  const folder = certificateFolder(t)
  const { cert } = makeCertificate(folder, ['a.example'])
  const pem = readFileSync(cert, 'utf8')
  const file = join(folder, 'ca.pem')
  const readSaid = (text: string | Buffer): string => {
    writeFileSync(file, text)
    try {
      return readTrust(file, 'routes.0.ca').ca === undefined ? 'none' : 'good'
    } catch (error) {
      return (error as Error).message.replace(`routes.0.ca: ${file} `, '')
    }
  }
  t.equal(readSaid(pem), 'good')
  t.equal(readSaid(`Subject: a note before\n${pem}\n# and between\n${pem}`), 'good')
  t.equal(readSaid(pem.slice(0, 300)), 'is truncated: its certificate has no end')
  t.equal(readSaid(`${pem}${pem.slice(0, 300)}`), 'is truncated: its certificate 2 of 2 has no end')
  t.equal(readSaid(pem.slice(0, 300) + pem), 'is truncated: its certificate 1 of 2 has no end')
  t.equal(readSaid(pem.replace('MII', 'MIX')), 'is damaged: its certificate cannot be read')
  t.equal(readSaid(''), 'contains no certificate in PEM')
  t.equal(readSaid(Buffer.from(pem, 'utf16le')), 'contains zero bytes, so it is not UTF-8 text')
  const authority = openAuthority({ directory: 'https://a/', ca: file, signal: AbortSignal.abort() }, BOUNDS)
  await t.rejects(authority, { message: `tls.acme.ca: ${file} contains zero bytes, so it is not UTF-8 text` })
})
