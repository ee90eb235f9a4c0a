import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import t, { type Test } from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { answered, begin, openHttp2 } from './http2-client.ts'
import { meteredSallyport } from './sallyport.ts'
import type { Answer } from './wire.ts'

/* Whatever an origin answers, each client gets it or our own whole answer, and the process goes on. */

const skip = NO_OPENSSL

/** Holds an odd answer of an origin, with the status and the fields that the client receives. */
interface OddAnswer {
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
const MARK = 'x-origin'

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
  'Content-Encoding': ['gzip', 'br'],
  'X-Content-Type-Options': ['nosniff', 'none'],
  'Content-Type': ['text/plain', 'text/html'],
  Host: ['a', 'b'],
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
  odd('a long value', [OK, LENGTH, `X-Long: ${'a'.repeat(15_000)}`], 200, { fields: { 'x-long': 'a'.repeat(15_000) } }),
  odd('500 fields', [OK, LENGTH, ...many(500, (at) => `X-${at}: ${at}`)], 200, { fields: { 'x-499': '499' } }),
  odd('a head beyond the limit', [OK, LENGTH, ...many(500, (at) => `X-${at}: ${'a'.repeat(100)}`)], 502),
  odd('a pseudo field', [OK, LENGTH, ':status: 500'], 502),
  odd('a blank before the colon', [OK, LENGTH, 'X-A : a'], 502),
  odd('a NUL in a value', [OK, LENGTH, 'X-A: a\u0000b'], 502),
  odd('a control byte in a value', [OK, LENGTH, 'X-A: a\u0001b'], 502),
  odd('a letter beyond ASCII in a name', [OK, LENGTH, 'X-\u00e9: a'], 502),
  odd('a parenthesis in a name', [OK, LENGTH, 'X(A): a'], 502),
]

const CHUNKED = 'Transfer-Encoding: chunked'
const IN_CHUNKS = '2\r\nok\r\n0\r\n\r\n'

const FRAMING: readonly OddAnswer[] = [
  odd('Content-Length twice', [OK, LENGTH, LENGTH], 502),
  odd('two lengths', [OK, LENGTH, 'Content-Length: 3'], 502),
  odd('a list of lengths', [OK, 'Content-Length: 2, 2'], 502),
  odd('length and chunks', [OK, LENGTH, CHUNKED], 502, { body: IN_CHUNKS }),
  odd('chunks', [OK, CHUNKED], 200, { body: IN_CHUNKS, fields: { 'content-length': undefined } }),
  odd('chunks and a trailer', [OK, CHUNKED, 'Trailer: X-Sum'], 200, { body: '2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n' }),
  odd('a trailer of odd fields', [OK, CHUNKED], 200, {
    body: '2\r\nok\r\n0\r\nConnection: x\r\nETag: "a"\r\nETag: "b"\r\nHTTP2-Settings: a\r\n\r\n',
  }),
  odd('gzip and chunks, which nobody asked for', [OK, 'Transfer-Encoding: gzip, chunked'], 502, { body: IN_CHUNKS }),
  odd('gzip alone', [OK, 'Transfer-Encoding: gzip'], 502),
  odd('chunks named twice', [OK, 'Transfer-Encoding: Chunked, chunked'], 200, { body: IN_CHUNKS }),
  odd('identity', [OK, 'Transfer-Encoding: identity'], 200),
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
]

const EMPTY = '\r\n\r\n'

const STATUSES: readonly OddAnswer[] = [
  odd('early hints first', [`HTTP/1.1 103 Early Hints\r\nLink: </a>${EMPTY}${OK}`, LENGTH], 200),
  odd('status 100 that nobody asked for', [`HTTP/1.1 100 Continue${EMPTY}${OK}`, LENGTH], 200),
  odd('status 100 twice', [`HTTP/1.1 100 Continue${EMPTY}HTTP/1.1 100 Go\r\nX-A: 1${EMPTY}${OK}`, LENGTH], 200),
  odd('status 199 first', [`HTTP/1.1 199 Odd\r\nETag: a\r\nETag: b${EMPTY}${OK}`, LENGTH], 200),
  odd('101 that nobody asked for', ['HTTP/1.1 101 Switching Protocols', 'Upgrade: x', 'Connection: Upgrade'], 502),
  odd('status 299', ['HTTP/1.1 299 Odd', LENGTH], 299),
  odd('status 600', ['HTTP/1.1 600 Odd', LENGTH], 502),
  odd('status 999', ['HTTP/1.1 999 Odd', LENGTH], 502),
  odd('status 099', ['HTTP/1.1 099 Low', LENGTH], 502),
  odd('a status of four digits', ['HTTP/1.1 2000 Odd', LENGTH], 502),
  odd('no reason', ['HTTP/1.1 200', LENGTH], 200),
  odd('a control byte in the reason', ['HTTP/1.1 200 O\u0001K', LENGTH], 502),
  odd('HTTP/1.0', ['HTTP/1.0 200 OK', LENGTH], 200),
  odd('HTTP/0.9', ['<html>'], 502),
]

const ODD_ANSWERS: readonly OddAnswer[] = [...twice, ...hop, ...FIELDS, ...FRAMING, ...STATUSES]

/** The answer that a client gets; names of fields in lower case, with the values of each. */
interface Got {
  readonly status: number
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly body: string
}

async function open(t: Test) {
  const faults: unknown[] = []
  // The number of an answer is the path of its request.
  const answer: Answer = (socket, head) => {
    const one = ODD_ANSWERS[Number(/^\w+ \/(\d+)/.exec(head)?.[1])]
    if (one !== undefined) socket.end(one.head + (head.startsWith('HEAD') ? '' : one.body), 'latin1')
  }
  const onFault = (error: unknown): void => void faults.push(error)
  const options = { sallyport: meteredSallyport(), http: '127.0.0.1:0', onFault }
  const { session, proxy, admin } = await openHttp2(t, answer, options)
  const scrape = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text()
  return { session, url: String(proxy.httpUrl), faults, scrape }
}

function gathered(raw: readonly string[]): Got['fields'] {
  const fields = new Map<string, string[]>()
  for (let at = 0; at < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase()
    fields.set(name, [...(fields.get(name) ?? []), String(raw[at + 1])])
  }
  return fields
}

async function overHttp1(url: string, method: string, path: string): Promise<Got> {
  const asked = request(`${url}${path}`, { method, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await response.toArray()).toString('latin1')
  return { status: Number(response.statusCode), fields: gathered(response.rawHeaders), body }
}

async function overHttp2(session: ClientHttp2Session, method: string, path: string): Promise<Got> {
  const stream = begin(session, { ':method': method, ':path': path })
  let raw: readonly string[] = []
  stream.on('response', (...heard: readonly unknown[]) => (raw = heard[2] as readonly string[]))
  const { body, code } = await answered(stream)
  return { status: Number(raw[1]), fields: gathered(raw), body: code === 0 ? body : `${body} (reset with ${code})` }
}

/** Returns the faults of an answer that a client got, in a line for each. */
function listFaults({ status, fields, body }: OddAnswer, { status: got, ...answer }: Got, method: string): string[] {
  const faults: string[] = []
  if (got !== status) faults.push(`status ${got} for ${status}`)
  if (!answer.fields.has('x-request-id')) faults.push('no id')
  const single = [...answer.fields].filter(([name, { length }]) => length > 1 && name !== 'set-cookie')
  for (const [name] of single) faults.push(`${name} twice`)
  if (got === 502) {
    if (answer.fields.has(MARK)) faults.push('our answer holds a field of the origin')
    if (method === 'GET' && JSON.parse(answer.body).error !== 'bad_gateway') faults.push('not our answer')
    return faults
  }
  for (const [name, value] of Object.entries(fields)) {
    const values = answer.fields.get(name)
    if (values?.[0] !== value) faults.push(`${name}: ${values?.join()} for ${value}`)
  }
  const whole = method === 'HEAD' || [204, 205, 304].includes(status) ? '' : 'ok'
  if (answer.body !== whole) faults.push(`body ${JSON.stringify(answer.body)} of ${JSON.stringify(body)}`)
  return faults
}

t.test('each odd answer, to clients of both protocols: the same, or a 502 of ours', { skip }, async (t) => {
  const { session, url, faults } = await open(t)
  const wrong: string[] = []
  for (const [at, answer] of ODD_ANSWERS.entries()) {
    for (const method of ['GET', 'HEAD']) {
      // A number that is no framing of HEAD is one of another answer.
      const answers = [await overHttp1(url, method, `/${at}`), await overHttp2(session, method, `/${at}`)]
      for (const [before, got] of answers.entries()) {
        const faults = listFaults(answer, got, method)
        wrong.push(...faults.map((fault) => `${answer.name}, ${method} over HTTP/${before + 1}: ${fault}`))
      }
    }
  }
  t.same(wrong, [])
  t.same(faults, [], 'and nothing of ours threw')
})

t.test('differences are counted by name', { skip }, async (t) => {
  const { session, url, scrape } = await open(t)
  for (const name of ['ETag twice, equal', 'ETag twice, different', 'Location twice, different']) {
    const at = ODD_ANSWERS.findIndex((answer) => answer.name === name)
    await overHttp1(url, 'GET', `/${at}`)
    await overHttp2(session, 'GET', `/${at}`)
  }
  const lines = (await scrape()).match(/^sallyport_field_conflicts_total.*$/gm)
  t.same(lines?.sort(), [
    'sallyport_field_conflicts_total{field="etag"} 2',
    'sallyport_field_conflicts_total{field="location"} 2',
  ])
})
