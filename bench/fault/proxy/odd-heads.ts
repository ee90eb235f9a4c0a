/* Heads of answers that are sent every day, or by nobody: none of them may end the process. */

const OK = 'HTTP/1.1 200 OK'

/** Fields that may stand once, and two values of each. */
const SINGLE: Readonly<Record<string, readonly [string, string]>> = {
  Date: ['Wed, 25 Nov 2026 10:00:00 GMT', 'Wed, 25 Nov 2026 11:00:00 GMT'],
  ETag: ['"a"', '"b"'],
  Location: ['/a', '/b'],
  'Last-Modified': ['Wed, 25 Nov 2026 10:00:00 GMT', 'Wed, 25 Nov 2026 11:00:00 GMT'],
  'Retry-After': ['1', '2'],
  'Content-Encoding': ['gzip', 'br'],
  'Content-Type': ['text/plain', 'text/html'],
  'Content-Language': ['de', 'en'],
  'Content-Location': ['/a', '/b'],
  'Content-Range': ['bytes 0-1/2', 'bytes 0-1/3'],
  'Content-MD5': ['a', 'b'],
  'Access-Control-Allow-Credentials': ['true', 'false'],
  'Access-Control-Max-Age': ['1', '2'],
  'X-Content-Type-Options': ['nosniff', 'none'],
  Expires: ['0', '-1'],
  Age: ['1', '2'],
  Tk: ['N', 'T'],
  Host: ['a', 'b'],
  'User-Agent': ['a', 'b'],
  Authorization: ['a', 'b'],
  'If-None-Match': ['"a"', '"b"'],
}

/** Fields of a connection, which HTTP/2 has none of. */
const HOP: readonly string[] = [
  'Keep-Alive: timeout=5',
  'Proxy-Connection: keep-alive',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABk',
  'TE: gzip',
  'Connection: keep-alive, X-Named',
  'Trailer: X-Sum',
]

const LINES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(SINGLE).flatMap(([name, [one, other]]) => [
      [`${name} twice, equal`, [OK, `${name}: ${one}`, `${name}: ${one}`]],
      [`${name} twice, different`, [OK, `${name}: ${one}`, `${name}: ${other}`]],
    ]),
  ),
  ...Object.fromEntries(HOP.map((line) => [`a field ${line}`, [OK, line]])),
  'a status without content': ['HTTP/1.1 205 Reset Content', 'ETag: "a"', 'ETag: "b"'],
  'a status of 1xx first': ['HTTP/1.1 199 Odd\r\nETag: "a"\r\nETag: "b"\r\n\r\nHTTP/1.1 200 OK', 'X-A: 1'],
  'a pseudo field': [OK, ':status: 500'],
  'a DEL in a value': [OK, 'X-A: a\u007fb'],
  'letters beyond ASCII': [OK, 'X-A: caf\u00e9', 'Location: /caf\u00e9'],
  'a name of prototypes': [OK, '__proto__: a', 'constructor: b'],
  'three hundred fields': [OK, ...Array.from({ length: 300 }, (_, at) => `X-${at}: ${at}`)],
}

/** By name, each with a body of two letters. */
export const ODD_HEADS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LINES).map(([name, lines]) => [name, [...lines, 'Content-Length: 2', '', 'ok'].join('\r\n')]),
)
