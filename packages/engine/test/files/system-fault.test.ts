import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { connectionReason, decodeText, fileReason, readText, systemFault } from '#files'

const withCode = (code: string): Error => Object.assign(new Error('raw'), { code })

t.test('faults of files have words, and a code that is not known is shown', async (t) => {
  const folder = t.testdir({ a: 'text' })
  const findFault = (file: string): unknown => {
    try {
      return readFileSync(file)
    } catch (error) {
      return error
    }
  }
  t.equal(fileReason(findFault(folder)), 'is a folder')
  t.equal(fileReason(findFault(join(folder, 'none'))), 'does not exist')
  t.equal(systemFault(findFault(join(folder, 'none'))), `${join(folder, 'none')} does not exist`)
  t.equal(fileReason(withCode('ENOSPC'), 'written'), 'cannot be written: the disk is full')
  t.equal(fileReason(withCode('EIO')), 'cannot be read (EIO)')
  t.equal(fileReason(new Error('x'), 'written'), 'cannot be written')
  for (const other of [new TypeError('a bug'), withCode('ENOENT'), 'text', undefined])
    t.equal(systemFault(other), undefined)
})

t.test('faults of connections have words, and those of OpenSSL no place in its source', async (t) => {
  t.equal(connectionReason(withCode('ENOTFOUND')), 'its host name is unknown')
  t.equal(connectionReason(withCode('ERR_SSL_WRONG_VERSION_NUMBER')), 'it does not speak TLS')
  t.equal(connectionReason(withCode('ERR_SSL_OTHER')), 'the TLS handshake fails (ERR_SSL_OTHER)')
  for (const other of [withCode('ENOENT'), new Error('x')]) t.equal(connectionReason(other), undefined)
})

t.test('a text is read in UTF-8 alone', async (t) => {
  const file = join(t.testdir(), 'a')
  writeFileSync(file, 'é')
  t.equal(readText(file), 'é')
  for (const [bytes, message] of [
    [Buffer.from('\ufeffa', 'utf16le'), 'is encoded in UTF-16. Save it as UTF-8'],
    [Buffer.from([0xfe, 0xff, 0, 0x61]), 'is encoded in UTF-16. Save it as UTF-8'],
    [Buffer.from('a\0'), 'contains zero bytes, so it is not UTF-8 text'],
  ] as const) {
    t.throws(() => decodeText(bytes), { message })
  }
})
