import t from 'tap'
import { callKeyed, createWire, tooLarge } from './wire.ts'

const URL = '/v1/ip/lookup'

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
  const wire = createWire()
  const key = await wire.keyFor('free')
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

t.test('a body the host has parsed already is taken as it is', async (t) => {
  t.equal((await post(async () => ({ target: '11.0.0.1' }))).status, 200)
  t.equal((await post(async () => undefined)).status, 400)
})

t.test('a body that is too large is 413', async (t) => {
  const { status, json, headers } = await post(tooLarge)
  t.equal(status, 413)
  t.same(json, { error: 'payload_too_large', message: 'The request body is larger than 64 KiB.' })
  t.equal(headers['X-RateLimit-Remaining'], '30000')
})

t.test('a body is read once, and only where a row asks for one', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
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
