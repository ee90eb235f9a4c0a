import t from 'tap'
import { callKeyed } from './wire.ts'

const IP = '12.0.0.1'

const post = (path: string, body: unknown) => callKeyed('POST', path, JSON.stringify(body))

t.test('a known name in another spelling is 400, with the right one', async (t) => {
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
    t.match(await post(path, body), { status: 400, json }, `${path} ${field}`)
  }
})

t.test('what is missing beside it is said too', async (t) => {
  const { json } = await post('/v1/provenance/check', { ip: 7, claimedJurisdiction: 'DE' })
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
    t.equal((await post('/v1/agentscan/check', { ip: IP, ...body })).status, 200, JSON.stringify(body))
  }
  const request_context = { claimedJurisdiction: 'FR', userAgent: 'a', Ip: 'b' }
  t.equal((await post('/v1/provenance/check', { ip: IP, claimed_jurisdiction: 'DE', request_context })).status, 200)
})
