import t, { type Test } from 'tap'
import { createFieldTable } from '../src/fields/field-table.ts'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, OK } from './wire.ts'

/** Sends one request through a proxy and resolves with the head of it, byte for byte, as the origin received it. */
async function seenBehind(t: Test, bytes: string, trust: readonly string[] = [], options: BeforeOptions = {}) {
  const { origin, url } = await proxyBefore(t, OK, { trust, ...options })
  const answer = await exchange(url, bytes)
  const head = (origin.heads[0] ?? '').split('\r\n')
  const listValues = (name: string) =>
    head.filter((line) => line.toLowerCase().startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return { answer, head, listValues, bytes: origin.received[0] ?? '' }
}

const withoutId = (line: string) =>
  line.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, 'ID').replace(/(?<=probability: )[\d.]+$/, 'P')

t.test('the bytes of a plain request', async (t) => {
  const { head } = await seenBehind(t, get('/a?b=c', 'User-Agent: test', 'X-Mixed-Case: Kept', 'Cookie: a=b'))
  t.strictSame(head.map(withoutId), [
    'GET /a?b=c HTTP/1.1',
    'host: site.example',
    'connection: keep-alive',
    'User-Agent: test',
    'X-Mixed-Case: Kept',
    'Cookie: a=b',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: site.example',
    'Via: 1.1 sallyport',
    'sallyport-action: allow',
    'sallyport-network-class: unknown',
    'sallyport-bot-probability: P',
    'sallyport-request-id: ID',
    '',
    '',
  ])
})

t.test('a session of the console, which a browser sends to every port of its host, stays with us', async (t) => {
  for (const [sent, kept] of [
    ['sallyport-console=admin.1.a.b', []],
    ['a=b; sallyport-console=admin.1.a.b; sallyport-console=x;c=d', ['a=b;c=d']],
    ['sallyport-console=x; a=b', ['a=b']],
    ['a=sallyport-console=x;; my-sallyport-console=y', ['a=sallyport-console=x;; my-sallyport-console=y']],
  ] as const) {
    const { listValues, bytes } = await seenBehind(t, get('/', `cOOkie: ${sent}`))
    t.strictSame(listValues('cookie'), kept, sent)
    t.notMatch(bytes, 'admin.1')
  }
})

t.test('the fields of the hop stay with us', async (t) => {
  const fields = ['Keep-Alive: timeout=9', 'TE: trailers', 'Proxy-Authorization: Basic x', 'Proxy-Connection: close']
  const more = ['Proxy: http://evil.example', 'HTTP2-Settings: AAMAAABkAAQAAP__', 'X-Named: 1', 'Connection: X-Named']
  const { bytes } = await seenBehind(t, get('/', ...fields, ...more, 'X-Kept: 1'))
  t.notMatch(bytes, /keep-alive:|^te:|proxy|http2|x-named|x-kept: 1\r\nconnection/im)
  t.match(bytes, 'X-Kept: 1')
})

t.test('no spelling of a name that we write reaches the origin', async (t) => {
  const names = ['Sallyport-Action', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Real-IP']
  const separators = [..."_.!#$%&'*+^`|~"]
  const fields = names.flatMap((name) => separators.map((separator) => `${name.replaceAll('-', separator)}: forged`))
  const others = ['X-Host: forged', 'X-Original-URL: /forged', 'X_Rewrite_Url: /forged', 'Proxy: forged']
  const { bytes } = await seenBehind(t, get('/', ...fields, ...others, 'X-Kept!Name: 1'))
  t.notMatch(bytes, 'forged')
  t.match(bytes, 'X-Kept!Name: 1')
})

t.test('a trusted proxy alone says how it was reached', async (t) => {
  const names = `X-Forwarded-Prefix X-Forwarded-Ssl X-Forwarded-Client-Cert X-Forwarded-Y Front-End-Https X-Scheme
    Client-Cert X-Envoy-Original-Path X-Script-Name`.split(/\s+/)
  const fields = names.map((name) => `${name}: forged`)
  const spelled = fields.flatMap((field) => ['_', '.', '!'].map((separator) => field.replaceAll('-', separator)))
  const passing = ['X-Forwarde: 1', 'X-Forwarded: forged', 'Client-Certificate: 1', 'X-Schemes: 1']
  const stranger = await seenBehind(t, get('/', ...fields, ...spelled, ...passing))
  t.notMatch(stranger.bytes, 'forged')
  for (const name of ['x-forwarde', 'client-certificate', 'x-schemes']) t.same(stranger.listValues(name), ['1'], name)
  const named = 'X-Forwarded-For: 203.0.113.7'
  const trusted = await seenBehind(t, get('/', ...fields, ...spelled, named), ['127.0.0.1'])
  const passed = trusted.head.filter((line) => line.endsWith(': forged'))
  t.same(passed, fields)
  const silent = await seenBehind(t, get('/', ...fields), ['127.0.0.1'])
  t.notMatch(silent.bytes, 'forged')
})

t.test('nobody else says who the client is', async (t) => {
  const names = `Forwarded X-Forwarded-For X_Forwarded_For X-Real-IP x.real.ip True-Client-IP X-Client-IP
    CF-Connecting-IP Fastly-Client-IP X-Cluster-Client-IP X-Forwarded-Proto X-Forwarded-Port X-Forwarded-Host X-Forwarded-Server Client-IP
    X-Edge-Client`.split(/\s+/)
  const asked = get('/', ...names.map((name) => `${name}: 6.6.6.6`))
  for (const trust of [[], ['loopback']]) {
    const { bytes } = await seenBehind(t, asked, trust, { clientHeader: 'X-Edge-Client' })
    const claims = bytes.split('\r\n').filter((line) => line.includes('6.6.6.6'))
    t.strictSame(claims, trust.length === 0 ? [] : ['X-Forwarded-For: 6.6.6.6, 127.0.0.1'])
  }
  const chain = get('/', 'X-Forwarded-For: 6.6.6.6', `X-Forwarded-For: ${VISITOR.flagged}`)
  const { listValues } = await seenBehind(t, chain, ['loopback'])
  t.strictSame(listValues('x-forwarded-for'), [`${VISITOR.flagged}, 127.0.0.1`], 'what the client wrote is left out')
})

t.test('a JA4 reaches the origin as a trusted proxy names it, and no other', async (t) => {
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  for (const [trust, ja4Header, passed, ...fields] of [
    [['loopback'], 'CF-JA4', [`cf-ja4: ${ja4}`], `cf-ja4: ${ja4}`],
    [[], 'CF-JA4', [], `cf-ja4: ${ja4}`],
    [['loopback'], 'CF-JA4', [], `cf-ja4: ${ja4}`, `CF-JA4: ${ja4}`],
    [['loopback'], 'CF-JA4', [], 'cf-ja4: none'],
    [['loopback'], 'CF-JA4', [`cf-ja4: ${ja4}`], `cf-ja4: ${ja4}`, `cf_ja4: ${ja4}`, `CF.JA4: ${ja4}`],
    [['loopback'], 'X_JA4', [], `x-ja4: ${ja4}`],
    [['loopback'], undefined, [`cf-ja4: ${ja4}`], `cf-ja4: ${ja4}`],
  ] as const) {
    const { head } = await seenBehind(t, get('/', ...fields), trust, { ja4Header })
    const named = head.filter((line) => /^\w+.ja4:/i.test(line))
    t.strictSame(named, passed, fields.join(' and '))
  }
})

t.test('the scheme is the client’s, as a trusted proxy says, whether or not it names the client', async (t) => {
  const [client, named] = [`X-Forwarded-For: ${VISITOR.allowed}`, `Forwarded: for=${VISITOR.allowed}`]
  for (const [clientHeader, expected, ...fields] of [
    [undefined, 'http', 'X-Forwarded-Proto: gopher'],
    [undefined, 'http', 'X-Forwarded-Proto: http, https'],
    [undefined, 'http', client, 'X-Forwarded-Proto: ws'],
    [undefined, 'https', client, 'X-Forwarded-Proto: https,http'],
    [undefined, 'https', 'X-Forwarded-Proto: https', 'X-Forwarded-Proto: http'],
    [undefined, 'https', 'X-Forwarded-Proto: wss'],
    [undefined, 'https', 'X-Forwarded-Proto: HTTPS , http'],
    [undefined, 'http', 'Forwarded: proto=https'],
    ['Forwarded', 'https', 'Forwarded: proto=https'],
    ['Forwarded', 'https', `${named}; Proto="https" ;by=_x, for=127.0.0.1;proto=http`],
    ['Forwarded', 'https', named, 'Forwarded: for=127.0.0.1;proto=wss'],
    ['Forwarded', 'https', named, 'X-Forwarded-Proto: https'],
    ['Forwarded', 'http', 'Forwarded: for="a;proto=https,";proto=http'],
    ['Forwarded', 'http', `${named};proto=http`, 'X-Forwarded-Proto: https'],
  ] as const) {
    const { listValues } = await seenBehind(t, get('/', ...fields), ['loopback'], { clientHeader })
    t.strictSame(listValues('x-forwarded-proto'), [expected], fields.join(' and '))
  }
  const untrusted = await seenBehind(t, get('/', client, 'X-Forwarded-Proto: https'))
  t.strictSame(untrusted.listValues('x-forwarded-proto'), ['http'], 'nobody else is believed')
})

t.test('framing is rewritten', async (t) => {
  const head = 'POST / HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n'
  const exact = await seenBehind(t, `${head}Content-Length: 0005\r\nContent_Length: 9\r\n\r\nhello`)
  t.strictSame(exact.listValues('content-length'), ['5'])
  t.notMatch(exact.bytes, 'Content_Length')
  t.match(exact.bytes, /\r\n\r\nhello$/)

  const chunked = `${head}Transfer-Encoding: chunked\r\nTransfer_Encoding: x\r\nTrailer: X-Sum\r\n\r\n`
  const streamed = await seenBehind(t, `${chunked}5;ext=1\r\nhello\r\n0\r\nX-Sum: 1\r\nsallyport-action: x\r\n\r\n`)
  t.notMatch(streamed.bytes, /Trailer|X-Sum|Transfer_|ext=1/)
  t.match(streamed.bytes, /\r\n\r\n(hello|5\r\nhello\r\n0\r\n\r\n)$/, 'with its length, or in chunks of our own')

  const none = await seenBehind(t, `${head}\r\n`)
  t.strictSame(none.listValues('content-length'), ['0'], 'a POST without a body says so')
  const got = await seenBehind(t, get('/', 'Content-Length: 0'))
  t.strictSame(got.listValues('content-length'), [], 'a GET without one does not')
})

t.test('the origin is spoken to in HTTP, also where the client says RTSP', async (t) => {
  const { head } = await seenBehind(t, 'GET / RTSP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.equal(head[0], 'GET / HTTP/1.1')
  const { answer, bytes } = await seenBehind(t, 'DESCRIBE / RTSP/1.0\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(answer, / 405 /)
  t.equal(bytes, '')
  const old = await seenBehind(t, 'GET /old HTTP/1.0\r\n\r\n')
  t.match(old.answer, / 200 OK\r\n/, 'an HTTP/1.0 client without Host is served')
  t.equal(old.listValues('host').length, 1)
  t.strictSame([old.listValues('x-forwarded-host'), old.listValues('via')], [[], ['1.0 sallyport']])
})

t.test('as many names as clients like are classified, and few are kept', async (t) => {
  let asked = 0
  const count = (): string => `${asked++}`
  const table = createFieldTable<string>(new Map(), String, count)
  for (let at = 0; at < 10_000; at++) table.find(`x-${at}`)
  t.ok(table.get('x-1'))
  t.equal(table.get('x-9999'), undefined)
})
