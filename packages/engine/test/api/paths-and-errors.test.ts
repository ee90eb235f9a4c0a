import { ERRORS, type ErrorCode, SallyportError } from '@sallyport/core'
import t from 'tap'
import { failAt } from '../accounts/faulty.ts'
import { type Answer, callKeyed, createWire, failingLookup, tooLarge } from './wire.ts'

t.test('a path under /v1 is ours, and 404 without a row; every other path is for the host', async (t) => {
  const { api } = createWire()
  const request = { peer: '', method: 'GET', target: '', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const more = { query: new URLSearchParams(), json: () => Promise.reject(new Error()) }
  for (const path of ['', '/', '/v2/myip', '/v10/myip', '/v1x', '/V1/myip', '/a/v1/myip', '//v1/myip', '/%761/myip']) {
    t.equal(await api({ ...request, ...more, path }), undefined, path)
  }
  const wire = createWire()
  const message =
    'The API has no such path. If the site has its own /v1, move the API with api.base, or disable it with api.enabled.'
  const near = 'whois whois/ /  myip/ /myip MyIP demo demo/ demo/1.1.1.1/ demo/1.1.1.1/x ../v1/myip ./myip myip;a=b'
  for (const path of `${near} vpn%2F1.1.1.1 __proto__`.split(' ').map((rest) => `/v1/${rest}`)) {
    for (const method of ['GET', 'POST']) {
      const { status, json, headers } = await wire.call(method, path)
      t.same([status, json], [404, { error: 'not_found', message, details: { path } }], path)
      t.equal(headers['Cache-Control'], 'no-store')
    }
  }
  t.same((await wire.call('GET', '/v1/nothing?q=1')).json.details, { path: '/v1/nothing' })
})

t.test('a path is matched as decoded, a literal before a parameter; what cannot be decoded is 400', async (t) => {
  const wire = createWire()
  t.equal((await wire.call('GET', '/v1/%6Dyip')).status, 200)
  t.equal((await wire.call('GET', '/v1/demo/11%2E0.0.1')).status, 200)
  for (const path of ['/v1/demo/%', '/v1/demo/%zz', '/v1/demo/%ff', '/v1/demo/%c3%28', '/v1/%zz', '/v1/%E0%A4']) {
    const { status, json } = await wire.call('GET', path)
    t.same([status, json.error], [400, 'invalid_request'], path)
    t.match(json.message, /percent-encoding/)
  }
  t.equal((await wire.call('GET', '/v1/asn/directory')).status, 200, 'not {ip}')
  t.equal((await wire.call('GET', '/v1/asn/11.0.0.1')).status, 401, 'not the directory')
})

t.test('another method is 405 with what is allowed, before any key or count', async (t) => {
  const wire = createWire()
  const rows = { '/v1/demo/1.1.1.1': 'GET, HEAD', '/v1/asn/directory': 'GET, HEAD', '/v1/ip/lookup': 'POST' }
  for (const [path, allow] of Object.entries(rows)) {
    for (const method of ['PUT', 'OPTIONS', 'get', 'FOO', allow === 'POST' ? 'HEAD' : 'POST']) {
      const { status, json, headers } = await wire.call(method, path)
      t.same([status, json.error, headers['Allow']], [405, 'method_not_allowed', allow], `${method} ${path}`)
      t.notOk('X-RateLimit-Limit' in headers)
    }
  }
  const head = await wire.call('HEAD', '/v1/demo/11.0.0.1')
  t.hasStrict(head, { status: 200, headers: { 'X-SVC-Demo': 'true' } }, 'HEAD is served as GET')
})

const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

/** One request for every code that the API can answer with. */
const CODES: Readonly<Partial<Record<ErrorCode, () => Promise<Answer>>>> = {
  invalid_ip: () => createWire().call('GET', '/v1/demo/nonsense'),
  invalid_target: () => callKeyed('POST', '/v1/ip/lookup', '{"target":"a b"}'),
  unresolved_target: () => callKeyed('POST', '/v1/ip/lookup', '{"target":"absent.example.com"}'),
  invalid_domain: () => callKeyed('GET', '/v1/whois/com'),
  domain_not_found: () => callKeyed('GET', '/v1/whois/free.org'),
  domain_reserved: () => callKeyed('GET', '/v1/whois/reserved.com'),
  invalid_asn: () => createWire().call('GET', '/v1/asn/directory/x'),
  invalid_request: () => callKeyed('POST', '/v1/ip/lookup', '{}'),
  unknown_crawler: () => callKeyed('POST', '/v1/agentscan/verify', '{"ip":"11.0.0.1","bot":"nobody"}'),
  claim_mismatch: () =>
    callKeyed('POST', '/v1/agentscan/verify', '{"ip":"11.0.0.1","bot":"gptbot","user_agent":"Googlebot/2.1"}'),
  unauthorized: () => createWire().call('GET', '/v1/user/limits'),
  not_found: () => createWire().call('GET', '/v1/nothing'),
  asn_not_found: () => createWire().call('GET', '/v1/asn/directory/1'),
  attestation_not_found: () => callKeyed('GET', '/v1/provenance/export?attestation_id=7', ''),
  method_not_allowed: () => createWire().call('POST', '/v1/myip'),
  payload_too_large: () => callKeyed('POST', '/v1/ip/lookup', tooLarge),
  rate_limit_exceeded: async () => {
    const wire = createWire()
    for (let call = 0; call < 60; call++) await wire.call('GET', '/v1/myip')
    return wire.call('GET', '/v1/myip')
  },
  internal_error: () => createWire({ lookup: failingLookup(new Error('bug')) }).call('GET', '/v1/demo/11.0.0.1'),
  attestation_unavailable: () =>
    callKeyed('POST', '/v1/provenance/check', '{"ip":"11.0.0.1","claimed_jurisdiction":"down"}'),
  service_unavailable: () => createWire({ limitFault: failAt() }).call('GET', '/v1/myip'),
}

t.test('every code of the table appears on the wire with its status, or belongs to another room', async (t) => {
  const elsewhere =
    'request_blocked unavailable_for_legal_reasons challenge_required payment_required bad_gateway ' +
    'gateway_timeout loop_detected misdirected_request forbidden'
  for (const [code, { status }] of Object.entries(ERRORS)) {
    if (status === undefined || elsewhere.split(' ').includes(code)) continue
    const ask = CODES[code as ErrorCode]
    t.ok(ask, `${code} has a request`)
    const answer = await ask?.()
    t.match(answer, { status, json: { error: code, message: /./ } }, code)
    const wanted = status === 429 ? ['error', 'message', 'retryAfter'] : ['error', 'message']
    const detailed = code === 'not_found' || code === 'invalid_request' ? [...wanted, 'details'] : wanted
    t.same(Object.keys(answer?.json), detailed, `${code} is an ErrorResponse`)
    t.hasStrict(answer?.headers, JSON_HEADERS, `${code} is JSON that no browser guesses at`)
  }
  t.hasStrict((await createWire().call('GET', '/v1/myip')).headers, JSON_HEADERS)
})

t.test('a fault of ours is 500 with no detail, and is reported to the host', async (t) => {
  const corrupt = new SallyportError('corrupt_data', 'secret.mmdb is corrupt')
  for (const error of [new TypeError('cannot read secret of undefined'), 'secret', undefined, corrupt]) {
    const wire = createWire({ lookup: failingLookup(error) })
    const { status, json, headers } = await wire.call('GET', '/v1/demo/11.0.0.1')
    t.same([status, json], [500, { error: 'internal_error', message: 'Internal server error.' }])
    t.notMatch(JSON.stringify(headers), /secret/)
    t.equal(wire.errors.length, 1)
    t.equal(wire.errors[0], error)
  }
})

t.test('the API never rejects, whatever its services do', async (t) => {
  const broken = () => {
    throw new Error('broken')
  }
  const wire = createWire({ services: { client: broken, onError: broken, snapshots: { current: broken } } })
  t.equal((await wire.call('GET', '/v1/myip')).status, 500)
  const key = await wire.keyFor('free')
  t.equal((await wire.call('GET', '/v1/vpn/11.0.0.1', { key })).status, 500)
})
