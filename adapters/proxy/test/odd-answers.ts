/** One odd answer of an origin, and what comes of it: the status, and what the fields are that it is about. */
export interface OddAnswer {
  readonly name: string
  readonly head: string
  readonly body: string
  readonly status: number
  /** Fields as every client gets them; `undefined`: not at all. Names in lower case. */
  readonly fields: Readonly<Record<string, string | undefined>>
}

const OK = 'HTTP/1.1 200 OK'
const LENGTH = 'Content-Length: 2'
/** No answer of our own may have this field. */
export const MARK = 'x-origin'

/** Makes an answer of these lines. */
function odd(
  name: string,
  lines: readonly string[],
  status: number,
  { fields = {}, body = 'ok' }: Partial<Pick<OddAnswer, 'fields' | 'body'>> = {},
): OddAnswer {
  const [first = '', ...rest] = lines
  return { name, head: [first, 'X-Origin: 1', ...rest, '', ''].join('\r\n'), body, status, fields }
}

const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  Date: ['Wed, 25 Nov 2026 10:00:00 GMT', 'Wed, 25 Nov 2026 11:00:00 GMT'],
  ETag: ['"a"', '"b"'],
  Location: ['/a', '/b'],
  'Last-Modified': ['Wed, 25 Nov 2026 10:00:00 GMT', 'Wed, 25 Nov 2026 11:00:00 GMT'],
  'Retry-After': ['1', '2'],
  'Content-Encoding': ['gzip', 'br'],
  'Access-Control-Allow-Credentials': ['true', 'false'],
  'Access-Control-Max-Age': ['1', '2'],
  'X-Content-Type-Options': ['nosniff', 'none'],
  'Content-Type': ['text/plain', 'text/html'],
  'Content-Location': ['/a', '/b'],
  'Content-Range': ['bytes 0-1/2', 'bytes 0-1/3'],
  'Content-Disposition': ['inline', 'attachment'],
  'content-md5': ['a', 'b'],
  Expires: ['0', '-1'],
  Age: ['1', '2'],
  Server: ['a', 'b'],
  Tk: ['N', 'T'],
  Host: ['a', 'b'],
  'User-Agent': ['a', 'b'],
  Authorization: ['a', 'b'],
  'If-None-Match': ['"a"', '"b"'],
}

const twice = Object.entries(PAIRS).flatMap(([name, [one, other]]) => [
  odd(`${name} twice, equal`, [OK, LENGTH, `${name}: ${one}`, `${name.toUpperCase()}:  ${one} `], 200, {
    fields: { [name.toLowerCase()]: one },
  }),
  odd(`${name} twice, different`, [OK, LENGTH, `${name}: ${one}`, `${name}: ${other}`], 200, {
    fields: { [name.toLowerCase()]: other },
  }),
])

const HOP = {
  'Keep-Alive': 'timeout=5',
  'Proxy-Connection': 'keep-alive',
  Upgrade: 'h2c',
  'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
  TE: 'gzip',
  Trailer: 'X-Sum',
}

const hop = Object.entries(HOP).map(([name, value]) =>
  odd(`a field ${name}`, [OK, LENGTH, `${name}: ${value}`], 200, { fields: { [name.toLowerCase()]: undefined } }),
)

const many = (count: number, line: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => line(at))

const FIELDS: readonly OddAnswer[] = [
  odd('Content-Language twice', [OK, LENGTH, 'Content-Language: de', 'Content-Language: en'], 200, {
    fields: { 'content-language': 'de, en' },
  }),
  odd('a field three times', [OK, LENGTH, 'ETag: "a"', 'ETag: "b"', 'ETag: "b"'], 200, { fields: { etag: '"b"' } }),
  odd('names in Connection', [OK, LENGTH, 'Connection: keep-alive, X-Named, ,"', 'X-Named: 1', 'x-named: 2'], 200, {
    fields: { 'x-named': undefined },
  }),
  odd('Connection twice', [OK, LENGTH, 'Connection: X-A', 'Connection: X-B', 'X-A: 1', 'X-B: 1'], 200, {
    fields: { 'x-a': undefined, 'x-b': undefined },
  }),
  odd('a field that names our verdict', [OK, LENGTH, 'Sallyport-Action: allow', 'sallyport_action: allow'], 200, {
    fields: { 'sallyport-action': undefined, sallyport_action: undefined },
  }),
  odd('letters beyond ASCII', [OK, LENGTH, 'X-Name: caf\u00e9'], 200, { fields: { 'x-name': 'caf\u00e9' } }),
  odd('an empty value', [OK, LENGTH, 'X-Empty:', 'ETag:', 'ETag:'], 200, { fields: { 'x-empty': '', etag: '' } }),
  odd('blanks around a value', [OK, LENGTH, 'X-Blank: \t a \t '], 200, { fields: { 'x-blank': 'a' } }),
  odd('a name of prototypes', [OK, LENGTH, '__proto__: a', 'constructor: b', 'toString: c'], 200, {
    fields: { __proto: undefined, constructor: 'b', tostring: 'c' },
  }),
  odd('a name of marks', [OK, LENGTH, "!#$%&'*+-.^_`|~: a"], 200, { fields: { "!#$%&'*+-.^_`|~": 'a' } }),
  odd('a long name', [OK, LENGTH, `${'x'.repeat(4_000)}: a`], 200),
  odd('a long value', [OK, LENGTH, `X-Long: ${'a'.repeat(15_000)}`], 200, { fields: { 'x-long': 'a'.repeat(15_000) } }),
  odd('500 fields', [OK, LENGTH, ...many(500, (at) => `X-${at}: ${at}`)], 200, { fields: { 'x-499': '499' } }),
  odd('100 cookies', [OK, LENGTH, ...many(100, (at) => `Set-Cookie: a${at}=1`)], 200),
  odd('a head beyond the limit', [OK, LENGTH, ...many(500, (at) => `X-${at}: ${'a'.repeat(100)}`)], 502),
  odd('a pseudo field', [OK, LENGTH, ':status: 500'], 502),
  odd('an empty name', [OK, LENGTH, ': a'], 502),
  odd('a blank before the colon', [OK, LENGTH, 'X-A : a'], 502),
  odd('a NUL in a value', [OK, LENGTH, 'X-A: a\u0000b'], 502),
  odd('a CR in a value', [OK, LENGTH, 'X-A: a\rb'], 502),
  odd('a DEL in a value', [OK, LENGTH, 'X-A: a\u007fb'], 502),
  odd('a control byte in a value', [OK, LENGTH, 'X-A: a\u0001b'], 502),
  odd('a letter beyond ASCII in a name', [OK, LENGTH, 'X-\u00e9: a'], 502),
  odd('a parenthesis in a name', [OK, LENGTH, 'X(A): a'], 502),
  odd('a space in a name', [OK, LENGTH, 'X A: b'], 502),
]

const CHUNKED = 'Transfer-Encoding: chunked'

const FRAMING: readonly OddAnswer[] = [
  odd('Content-Length twice', [OK, LENGTH, LENGTH], 502),
  odd('two lengths', [OK, LENGTH, 'Content-Length: 3'], 502),
  odd('a list of lengths', [OK, 'Content-Length: 2, 2'], 502),
  odd('a negative length', [OK, 'Content-Length: -2'], 502),
  odd('a length that is none', [OK, 'Content-Length: x'], 502),
  odd('length and chunks', [OK, LENGTH, CHUNKED], 502, { body: '2\r\nok\r\n0\r\n\r\n' }),
  odd('chunks', [OK, CHUNKED], 200, { body: '2\r\nok\r\n0\r\n\r\n', fields: { 'content-length': undefined } }),
  odd('chunks and a trailer', [OK, CHUNKED, 'Trailer: X-Sum'], 200, { body: '2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n' }),
  odd('a trailer of odd fields', [OK, CHUNKED], 200, {
    body: '2\r\nok\r\n0\r\nConnection: x\r\nETag: "a"\r\nETag: "b"\r\nHTTP2-Settings: a\r\n\r\n',
  }),
  odd('a body that ends with its connection', [OK, 'Connection: close'], 200),
  odd('204 with a length and a body', ['HTTP/1.1 204 No Content', LENGTH], 204, {
    fields: { 'content-length': undefined },
  }),
  odd('204 in chunks', ['HTTP/1.1 204 No Content', CHUNKED], 204, { body: '' }),
  odd('205 with a body', ['HTTP/1.1 205 Reset Content', LENGTH], 205, { fields: { 'content-length': '0' } }),
  odd('304 with a length', ['HTTP/1.1 304 Not Modified', LENGTH, 'ETag: "a"', 'ETag: "a"'], 304, {
    body: '',
    fields: { etag: '"a"', 'content-length': '2' },
  }),
  odd('404 with Location twice', ['HTTP/1.1 404 Not Found', LENGTH, 'Location: /a', 'Location: /a'], 404),
]

const EMPTY = '\r\n\r\n'

const STATUSES: readonly OddAnswer[] = [
  odd('early hints first', [`HTTP/1.1 103 Early Hints\r\nLink: </a>${EMPTY}${OK}`, LENGTH], 200),
  odd('status 100 that nobody asked for', [`HTTP/1.1 100 Continue${EMPTY}${OK}`, LENGTH], 200),
  odd('status 100 twice', [`HTTP/1.1 100 Continue${EMPTY}HTTP/1.1 100 Go\r\nX-A: 1${EMPTY}${OK}`, LENGTH], 200),
  odd('status 102 first', [`HTTP/1.1 102 Processing${EMPTY}${OK}`, LENGTH], 200),
  odd('status 199 first', [`HTTP/1.1 199 Odd\r\nETag: a\r\nETag: b${EMPTY}${OK}`, LENGTH], 200),
  odd('101 that nobody asked for', ['HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: Upgrade'], 502),
  odd('101 without an upgrade', ['HTTP/1.1 101 Switching Protocols'], 502),
  odd('status 299', ['HTTP/1.1 299 Odd', LENGTH], 299),
  odd('status 599', ['HTTP/1.1 599 Odd', LENGTH], 599),
  odd('status 600', ['HTTP/1.1 600 Odd', LENGTH], 502),
  odd('status 999', ['HTTP/1.1 999 Odd', LENGTH], 502),
  odd('status 000', ['HTTP/1.1 000 Odd', LENGTH], 502),
  odd('status 099', ['HTTP/1.1 099 Low', LENGTH], 502),
  odd('a status of two digits', ['HTTP/1.1 20 OK', LENGTH], 502),
  odd('a status of four digits', ['HTTP/1.1 2000 Odd', LENGTH], 502),
  odd('no reason', ['HTTP/1.1 200', LENGTH], 200),
  odd('a reason beyond ASCII', ['HTTP/1.1 200 caf\u00e9', LENGTH], 200),
  odd('a NUL in the reason', ['HTTP/1.1 200 O\u0000K', LENGTH], 502),
  odd('a control byte in the reason', ['HTTP/1.1 200 O\u0001K', LENGTH], 502),
  odd('HTTP/1.0', ['HTTP/1.0 200 OK', LENGTH], 200),
  odd('HTTP/0.9', ['<html>'], 502),
  odd('HTTP/2 in the status line', ['HTTP/2 200', LENGTH], 502),
]

/** More than a hundred, of every kind that is known to be odd. */
export const ODD_ANSWERS: readonly OddAnswer[] = [...twice, ...hop, ...FIELDS, ...FRAMING, ...STATUSES]
