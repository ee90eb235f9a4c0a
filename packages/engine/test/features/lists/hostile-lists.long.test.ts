import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createFetch } from '#net'
import { fetchList } from '../../../src/features/lists/list-copy.ts'
import { readListBytes } from '../../../src/features/lists/read-list.ts'
import { openWebServer } from '../../net/web-server.ts'

const MB = 2 ** 20
const MARKED = '\uFEFF# mine\r\n198.51.100.7\r\n203.0.113.0/24\r\n'
const encodeText = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding)

t.test('whatever a list is made of, it is read or refused with a reason', async (t) => {
  const read = [
    ['a byte order mark, CRLF', encodeText(MARKED), 2],
    ['UTF-16, as PowerShell writes', encodeText(MARKED, 'utf16le'), 2],
    ['UTF-16 the other way', encodeText(MARKED, 'utf16le').swap16(), 2],
    ['one line of a megabyte', encodeText(`198.51.100.7\n203.0.113.1\n${'x'.repeat(MB)}\n`), 2],
    ['a comment of a megabyte', encodeText(`# ${'x'.repeat(MB)}\n198.51.100.7\n`), 1],
    ['a jail of 70,000', encodeText(`Banned IP list:\t${'198.51.100.7 '.repeat(70_000)}\n`), 70_000],
    ['Latin-1 in a comment', encodeText('# caf\u00e9\n198.51.100.7\n', 'latin1'), 1],
  ] as const
  for (const [name, bytes, size] of read) t.match(await readListBytes(bytes, 'auto'), { state: 'read', size }, name)
  const refused = [
    ['ten million lines', encodeText('#\n'.repeat(10_000_000)), /has more than 2000000 lines/],
    ['a million entries', encodeText('198.51.100.7 198.51.100.8\n'.repeat(500_001)), /has more than 1000000 entries/],
    ['more than is read', encodeText('198.51.100.7\n'.repeat(3_000_000)), /is larger than 32 MB/],
    ['binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]), /is binary/],
    ['a compressed file', gzipSync(encodeText('198.51.100.7\n')), /is binary/],
    ['a page', encodeText('\n <!doctype HTML><title>Sign in</title>'), /is a web page/],
    ['an error in JSON', encodeText('{"error":"unauthorized"}'), /is not JSON of at most 8 MB with entries/],
    ['JSON that is too deep', encodeText('['.repeat(100_000) + ']'.repeat(100_000)), /nested too deeply|no entries/],
    ['JSON of 9 MB', encodeText(`[${'"198.51.100.7",'.repeat(600_000)}"x"]`), /is not JSON of at most 8 MB/],
    ['prose', encodeText('999.1.1.1\n1.2.3\n'), /has 2 invalid lines, first at line 1/],
  ] as const
  for (const [name, bytes, reason] of refused)
    t.match(await readListBytes(bytes, 'auto'), { state: 'refused', reason }, name)
})

async function answered(t: Test, answer: RequestListener, timeoutMs = 10_000) {
  const { origin } = await openWebServer(t, answer)
  const outbound = createFetch({ dns: {} as never, allowPrivate: ['127.0.0.1/32'] })
  const list = { url: `${origin}/list`, refresh: 60_000, format: 'auto', wide: false } as const
  return fetchList(outbound, list, { timeoutMs })
}

t.test('whatever a URL answers, it is a list or a reason', async (t) => {
  const list = '198.51.100.7\n'
  for (const type of ['image/png', 'text/html', 'application/octet-stream', '']) {
    const read = await answered(t, (_, response) => response.writeHead(200, { 'content-type': type }).end(list))
    t.match(read, { state: 'read', size: 1 }, `a list as ${type || 'nothing'}`)
  }
  const zip = (text: string | Buffer): RequestListener => {
    return (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  }
  t.match(await answered(t, zip(list)), { state: 'read', size: 1 })
  const rows: readonly (readonly [name: string, answer: RequestListener, reason: RegExp, timeoutMs?: number])[] = [
    ['an error', (_, response) => response.writeHead(500).end(list), /responded with 500/],
    ['a page with 200', (_, response) => response.end('<html><body>Maintenance</body></html>'), /is a web page/],
    ['a bomb', zip(Buffer.alloc(64 * MB, '198.51.100.7\n')), /larger than 33554432 bytes/],
    ['nothing', () => {}, /could not be fetched/, 100],
    ['a circle', (_, response) => response.writeHead(302, { location: '/list' }).end(), /responded with 302/],
  ]
  for (const [name, answer, reason, timeoutMs] of rows)
    t.match(await answered(t, answer, timeoutMs), { state: 'refused', reason }, name)
})
