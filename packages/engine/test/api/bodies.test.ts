import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { createWire, tooLarge } from './wire.ts'

const URL = '/v1/ip/lookup'

async function post(body: string | (() => Promise<unknown>)) {
  const wire = createWire()
  const key = await wire.keyFor('free')
  return { ...(await wire.call('POST', URL, { key, body })), errors: wire.errors }
}

const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const wide = (keys: number) => JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 1])))

t.test('a body of the wrong form is 400, with the first reason in one line', async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['', /^body: not valid JSON$/],
    ['{', /^body: not valid JSON$/],
    ["{'target':'1.1.1.1'}", /^body: not valid JSON$/],
    ['null', /^body: must be a map of members/],
    ['[]', /^body: must be a map of members/],
    ['"1.1.1.1"', /^body: must be a map of members/],
    ['{}', /^target: (is missing|must be a text)/],
    ['{"target":null}', /^target: (is missing|must be a text)/],
    ['{"target":1}', /^target: (is missing|must be a text)/],
    ['{"target":["1.1.1.1"]}', /^target: (is missing|must be a text)/],
    ['{"Target":"1.1.1.1"}', /^Target: is not known; did you mean "target"\?$/],
    [JSON.stringify({ target: 'x'.repeat(5000) }), /^target: /],
    ['{"__proto__":{"target":"1.1.1.1"}}', /^target: /],
  ]
  for (const [body, message] of rows) {
    const { status, json } = await post(body)
    t.equal(status, 400, body.slice(0, 40))
    t.equal(json.error, 'invalid_request')
    t.match(json.message, message)
    t.notMatch(json.message, /[\n✖]/)
  }
})

t.test('fields that are not known are passed over', async (t) => {
  const { status, json } = await post('{"target":"11.0.0.1","extra":1,"constructor":{},"__proto__":{"isVpn":true}}')
  t.equal(status, 200)
  t.equal(json.isVpn, false)
  t.equal(({} as Record<string, unknown>)['isVpn'], undefined)
})

t.test('JSON deeper than 32 levels or wider than 1,000 keys is refused', async (t) => {
  const message = async (body: string) => (await post(body)).json.message
  t.match(await message(nested(32)), /^target:/, '32 levels are read')
  t.match(await message(nested(33)), /^body: nested deeper than 32/)
  t.match(await message(`${'['.repeat(33)}${']'.repeat(33)}`), /^body: nested deeper/)
  t.match(await message(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), /^body: nested deeper/)
  t.match(await message(wide(1000)), /^target:/, '1,000 keys are read')
  t.match(await message(wide(1001)), /^body: more than 1000 keys/)
  t.match(await message(JSON.stringify({ target: '11.0.0.1', list: Array(1001).fill(0) })), /^body: more than 1000/)
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

t.test('a body that cannot be read for another reason is ours, with no detail', async (t) => {
  const { status, json, errors } = await post(() => Promise.reject(new Error('socket hang up at 10.0.0.3')))
  t.equal(status, 500)
  t.same(json, { error: 'internal_error', message: 'Internal server error.' })
  t.match(errors, [{ message: 'socket hang up at 10.0.0.3' }])
})

t.test('a body is read once, and only where a row asks for one', async (t) => {
  const wire = createWire()
  const key = await wire.keyFor('free')
  t.equal((await wire.call('POST', URL, { key, body: '{"target":"11.0.0.1"}' })).bodyReads, 1)
  t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { key, body: tooLarge })).bodyReads, 0)
  t.equal((await wire.call('POST', '/v1/vpn/11.0.0.1', { key, body: tooLarge })).bodyReads, 0, '405')
  t.equal((await wire.call('POST', '/v1/nothing', { key, body: tooLarge })).bodyReads, 0, '404')
  t.equal((await wire.call('POST', URL, { body: tooLarge })).bodyReads, 0, '401')
})

t.test('details of an error are given where it has some', async (t) => {
  const { json } = await post(() => Promise.reject(new SallyportError('invalid_request', 'Because.', { at: 3 })))
  t.same(json, { error: 'invalid_request', message: 'Because.', details: { at: 3 } })
})
