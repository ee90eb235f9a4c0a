import t from 'tap'
import { z } from 'zod'
import { misspelledFaults } from '../../src/api/misspelled.ts'
import { createWire } from './wire.ts'

const IP = '12.0.0.1'
const POSTED = [
  '/v1/agentscan/check',
  '/v1/agentscan/verify',
  '/v1/crawlers/verify',
  '/v1/provenance/check',
  '/v1/ip/lookup',
]

async function post(path: string, body: unknown) {
  const wire = createWire()
  return wire.call('POST', path, { key: await wire.keyFor('free'), body: JSON.stringify(body) })
}

t.test('a name that differs in a digit alone names something else, and is ignored', async (t) => {
  for (const name of ['ja3', 'JA3']) {
    const { status } = await post('/v1/agentscan/check', { ip: IP, [name]: 'x' })
    t.equal(status, 200, name)
  }
})

t.test('a known name in another spelling is 400, with the right one', async (t) => {
  const rows: readonly (readonly [
    path: string,
    body: Readonly<Record<string, unknown>>,
    field: string,
    meant: string,
  ])[] = [
    ['/v1/agentscan/check', { ip: IP, userAgent: 'curl/8' }, 'userAgent', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, 'User-Agent': 'curl/8' }, 'User-Agent', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, USER_AGENT: 'curl/8' }, 'USER_AGENT', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, user_agnt: 'curl/8' }, 'user_agnt', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, user_agent: 'a', userAgent: 'b' }, 'userAgent', 'user_agent'],
    ['/v1/agentscan/check', { ip: IP, header: {} }, 'header', 'headers'],
    ['/v1/agentscan/check', { ip: IP, headr: {} }, 'headr', 'headers'],
    ['/v1/agentscan/check', { ip: IP, j4: 'a' }, 'j4', 'ja4'],
    ['/v1/agentscan/check', { ip: IP, headlessFlags: {} }, 'headlessFlags', 'headless_flags'],
    ['/v1/agentscan/check', { ip: IP, requestId: 'a' }, 'requestId', 'request_id'],
    ['/v1/agentscan/check', { ip: IP, JA4: 'a' }, 'JA4', 'ja4'],
    ['/v1/agentscan/check', { Ip: IP }, 'Ip', 'ip'],
    ['/v1/crawlers/verify', { ip: IP, bot: 'googlebot', useragent: 'a' }, 'useragent', 'user_agent'],
    ['/v1/agentscan/verify', { ip: IP, Bot: 'googlebot' }, 'Bot', 'bot'],
    ['/v1/provenance/check', { ip: IP, claimedJurisdiction: 'DE' }, 'claimedJurisdiction', 'claimed_jurisdiction'],
    [
      '/v1/provenance/check',
      { ip: IP, claimed_jurisdiction: 'DE', request_contxt: {} },
      'request_contxt',
      'request_context',
    ],
    ['/v1/ip/lookup', { targt: IP }, 'targt', 'target'],
  ]
  for (const [path, body, field, meant] of rows) {
    const { status, json } = await post(path, body)
    const said = `is not known; did you mean "${meant}"?`
    t.equal(status, 400, `${path} ${field}`)
    t.match(json, {
      error: 'invalid_request',
      message: `${field}: ${said}`,
      details: { fields: [{ field, message: said }] },
    })
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
    { ip: IP, id: 'a', ua: 'b', url: '/', os: 'c', port: 1, session: 'd', tenant: {}, user: 'e', agent: 'f' },
    { ip: IP, headers: { userAgent: 'curl/8', user_agent: 'b' }, headless_flags: { Headers: true } },
  ]) {
    t.equal((await post('/v1/agentscan/check', body)).status, 200, JSON.stringify(body))
  }
  const context = { claimedJurisdiction: 'FR', userAgent: 'a', Ip: 'b' }
  t.equal(
    (await post('/v1/provenance/check', { ip: IP, claimed_jurisdiction: 'DE', request_context: context })).status,
    200,
  )
  for (const path of POSTED) {
    const { json } = await post(path, { constructor: 1, toString: 2, hasOwnProperty: 3 })
    t.notMatch(json.message, /did you mean/, path)
  }
})

t.test('objects within, and items of a list by their place', async (t) => {
  const item = z.object({ ip: z.string(), user_agent: z.string().optional() })
  const schema = z.object({
    items: z.array(item).optional(),
    about: item.nullable(),
    free: z.record(z.string(), z.string()),
  })
  const value = {
    items: [{ ip: IP }, { ip: IP, userAgent: 'a' }, 7, { iP: IP }],
    about: { ip: IP, user_Agent: 'a' },
    free: { userAgent: 'a' },
  }
  t.same(
    misspelledFaults(schema, value).map(({ field }) => field),
    ['items.1.userAgent', 'items.3.iP', 'about.user_Agent'],
  )
})
