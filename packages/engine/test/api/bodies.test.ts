import t from 'tap'
import { callKeyed, openKeyed, tooLarge } from './wire.ts'

const URL = '/v1/ip/lookup'
const IP = '12.0.0.1'

const postTo = (path: string, body: unknown) => callKeyed('POST', path, JSON.stringify(body))

const post = (body: string | (() => Promise<unknown>)) => callKeyed('POST', URL, body)

const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const wide = (keys: number) => JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 1])))

t.test('a body of the wrong form is 400, with the first reason in one line', async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['', /^body: not valid JSON$/],
    ["{'target':'1.1.1.1'}", /^body: not valid JSON$/],
    ['null', /^body: must be a map of members/],
    ['"1.1.1.1"', /^body: must be a map of members/],
    ['{"target":null}', /^target: (is missing|must be a text)/],
    ['{"target":["1.1.1.1"]}', /^target: must be a text/],
    [JSON.stringify({ target: 'x'.repeat(5000) }), /^target: /],
    ['{"__proto__":{"target":"1.1.1.1"}}', /^target: /],
    [nested(32), /^target: is missing/],
    [nested(33), /^body: nested deeper than 32/],
    [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, /^body: nested deeper/],
    [wide(1000), /^target: is missing/],
    [wide(1001), /^body: more than 1000 keys/],
    [JSON.stringify({ target: '11.0.0.1', list: Array(1001).fill(0) }), /^body: more than 1000/],
  ]
  for (const [body, message] of rows) {
    const { status, json } = await post(body)
    t.match([status, json.error, json.message], [400, 'invalid_request', message], body.slice(0, 40))
    t.notMatch(json.message, /[\n✖]/)
  }
})

t.test('faults of a request are said by field, in our own sentences', async (t) => {
  const { wire, key } = await openKeyed()
  const missing = { field: 'target', message: 'is missing' }
  const text = (field: string) => ({ field, message: 'must be a text' })
  const rows: readonly (readonly [path: string, body: object, fields: readonly object[]])[] = [
    [URL, {}, [missing]],
    [URL, [], [{ field: 'body', message: 'must be a map of members' }]],
    ['/v1/agentscan/check', { ip: true, headers: { 'user-agent': 1 } }, [text('ip'), text('headers.user-agent')]],
    ['/v1/agentscan/verify', { ip: '1.1.1.1' }, [{ field: 'body', message: 'give `bot` or `user_agent`' }]],
  ]
  for (const [path, body, fields] of rows) {
    const { status, json } = await wire.call('POST', path, { key, body: JSON.stringify(body) })
    t.same([status, json.details.fields], [400, fields])
  }
})

t.test('a body that the host has parsed is taken as it is, and a body that is too large is 413', async (t) => {
  t.equal((await post(async () => ({ target: '11.0.0.1' }))).status, 200)
  t.equal((await post(async () => undefined)).status, 400)
  const { status, json, headers } = await post(tooLarge)
  t.equal(status, 413)
  t.same(json, { error: 'payload_too_large', message: 'The request body is larger than 64 KiB.' })
  t.equal(headers['X-RateLimit-Remaining'], '30000')
})

t.test('a body is read once, and only where a row asks for one', async (t) => {
  const { wire, key } = await openKeyed()
  t.equal((await wire.call('POST', URL, { key, body: '{"target":"11.0.0.1"}' })).bodyReads, 1)
  for (const [method, url, status] of [
    ['GET', '/v1/vpn/11.0.0.1', 200],
    ['POST', '/v1/vpn/11.0.0.1', 405],
    ['POST', '/v1/nothing', 404],
  ] as const) {
    t.match(await wire.call(method, url, { key, body: tooLarge }), { status, bodyReads: 0 })
  }
  t.match(await wire.call('POST', URL, { body: tooLarge }), { status: 401, bodyReads: 0 })
})

t.test('a known name in another spelling is 400 with the right one, and what is missing is said too', async (t) => {
  const rows: readonly (readonly [path: string, body: object, field: string, meant: string])[] = [
    ['/v1/agentscan/check', { ip: IP, 'User-Agent': 'curl/8' }, 'User-Agent', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, user_agnt: 'curl/8' }, 'user_agnt', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, user_agent: 'a', userAgent: 'b' }, 'userAgent', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, headr: {} }, 'headr', 'headers'],
    ['/v1/agentscan/check', { ip: IP, j4: 'a' }, 'j4', 'ja4'],
    ['/v1/agentscan/check', { ip: IP, JA4: 'a' }, 'JA4', 'ja4'],
    ['/v1/agentscan/check', { Ip: IP }, 'Ip', 'ip'],
    ['/v1/crawlers/verify', { ip: IP, bot: 'googlebot', useragent: 'a' }, 'useragent', 'user_agent'],
    ['/v1/agentscan/verify', { ip: IP, Bot: 'googlebot' }, 'Bot', 'bot'],
    ['/v1/provenance/check', { ip: IP, claimedJurisdiction: 'DE' }, 'claimedJurisdiction', 'claimed_jurisdiction'],
    ['/v1/ip/lookup', { targt: IP }, 'targt', 'target'],
  ]
  for (const [path, body, field, meant] of rows) {
    const message = `is not known; did you mean "${meant}"?`
    const details = { fields: [{ field, message }] }
    const json = { error: 'invalid_request', message: `${field}: ${message}`, details }
    t.match(await postTo(path, body), { status: 400, json }, `${path} ${field}`)
  }
  const { json } = await postTo('/v1/provenance/check', { ip: 7, claimedJurisdiction: 'DE' })
  t.match(json.details.fields, [
    { field: 'claimedJurisdiction' },
    { field: 'ip', message: 'must be a text' },
    { field: 'claimed_jurisdiction', message: 'is missing' },
  ])
})

t.test('other unknown members are passed over', async (t) => {
  for (const body of [
    { id: 'a', ua: 'b', url: '/', os: 'c', port: 1, session: 'd', tenant: {}, user: 'e', agent: 'f' },
    // Names that differ in a digit alone name something else.
    { ja3: 'x', JA3: 'x' },
    { headers: { userAgent: 'curl/8', user_agent: 'b' }, headless_flags: { Headers: true } },
    { constructor: 1, toString: 2, hasOwnProperty: 3 },
  ]) {
    t.equal((await postTo('/v1/agentscan/check', { ip: IP, ...body })).status, 200, JSON.stringify(body))
  }
  const request_context = { claimedJurisdiction: 'FR', userAgent: 'a', Ip: 'b' }
  t.equal((await postTo('/v1/provenance/check', { ip: IP, claimed_jurisdiction: 'DE', request_context })).status, 200)
})
