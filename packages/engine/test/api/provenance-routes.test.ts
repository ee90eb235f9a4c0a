import { verifyEvidence } from '@sallyport/ledger/verify'
import t from 'tap'
import { createWire, openKeyed, START, type Wire } from './wire.ts'

const WINDOW = '2026-01-31'
const CHECK = '/v1/provenance/check'
const EXPORT = '/v1/provenance/export'

const CLAIM = { ip: '13.0.0.1', claimed_jurisdiction: 'DE' }

function check(wire: Wire, key: string, body: object = CLAIM) {
  return wire.call('POST', CHECK, { key, body: JSON.stringify(body) })
}

t.test('a claim that cannot be checked has a code and is not recorded', async (t) => {
  const { wire, key } = await openKeyed()
  const rows: readonly (readonly [object, number, string])[] = [
    [{ ...CLAIM, ip: 'x' }, 400, 'invalid_ip'],
    [{ ...CLAIM, claimed_jurisdiction: 'nowhere' }, 400, 'invalid_request'],
    [{ ip: CLAIM.ip }, 400, 'invalid_request'],
    [{ ...CLAIM, request_context: [1] }, 400, 'invalid_request'],
    [{ ...CLAIM, claimed_jurisdiction: 'down' }, 503, 'attestation_unavailable'],
  ]
  for (const [body, status, code] of rows) {
    const answer = await check(wire, key, body)
    t.same([answer.status, answer.json.error], [status, code], JSON.stringify(body))
    t.notOk('attestation_id' in answer.json)
  }
  t.equal(await wire.usage(key, WINDOW), 4, 'an attestation that could not be made is not counted')
  t.equal((await check(wire, key)).json.attestation_id, 2)
})

t.test('the context reaches the record as it was sent, odd names too', async (t) => {
  const { wire, key } = await openKeyed()
  const body = '{"ip":"13.0.0.1","claimed_jurisdiction":"DE","request_context":{"__proto__":{"a":1},"b":[1.5,null]}}'
  const { json } = await wire.call('POST', CHECK, { key, body })
  const evidence = (await wire.call('GET', `${EXPORT}?attestation_id=${json.attestation_id}`, { key })).json
  t.equal(evidence.records[0].disclosure.request_context, '{"__proto__":{"a":1},"b":[1.5,null]}')
})

t.test('evidence is exported, counted, and verifies by the keys that are published', async (t) => {
  const { wire, key } = await openKeyed()
  for (let time = 0; time < 3; time++) await check(wire, key)
  const keys = await wire.call('GET', '/v1/provenance/keys')
  t.equal(keys.status, 200)
  t.hasStrict(keys.headers, {
    'Content-Type': 'application/jwk-set+json',
    'Cache-Control': 'public, max-age=300',
    'X-RateLimit-Limit': '600',
  })
  const answer = await wire.call('GET', `${EXPORT}?attestation_id=3`, { key })
  t.equal(answer.status, 200)
  t.hasStrict(answer.headers, {
    'Content-Type': 'application/vnd.sallyport.evidence+json;version=1',
    'Cache-Control': 'no-store',
    'X-RateLimit-Remaining': String(30_000 - 4),
  })
  t.match(verifyEvidence(answer.json, keys.json), { ok: true, axes: { authenticity: { outcome: 'pass' } } })
  const range = await wire.call('GET', `${EXPORT}?from=2026-01-01T00:00:00Z&to=2026-12-31T23:59:59%2B01:00`, { key })
  t.match(verifyEvidence(range.json, keys.json), { ok: true, axes: { completeness: { outcome: 'pass' } } })
  t.equal(range.json.records.length, 3)
  t.equal(range.json.query.to, '2026-12-31T22:59:59.000Z', 'in UTC')
  const ever = await wire.call('GET', `${EXPORT}?from=0000-01-01t00:00:00z&to=9999-12-31T23:59:59.999Z`, { key })
  t.match(verifyEvidence(ever.json, keys.json), { ok: true, axes: { completeness: { outcome: 'pass' } } })
  const leap = await wire.call('GET', `${EXPORT}?from=2024-02-29T00:00:00Z&to=${START}`, { key })
  t.equal(leap.status, 200, 'a leap day')
})

t.test('every id of another account is answered as one that was never given out', async (t) => {
  const wire = createWire()
  const [mine, theirs] = [await wire.keyFor('free'), await wire.keyFor('pro')]
  for (let time = 0; time < 3; time++) await check(wire, theirs)
  const ask = (id: string, key: string) => wire.call('GET', `${EXPORT}?attestation_id=${id}`, { key })
  const unknown = await ask('99', mine)
  t.equal(unknown.status, 404)
  t.equal(unknown.json.error, 'attestation_not_found')
  for (const id of ['1', '2', '3', '4', '9007199254740993']) {
    const { status, json } = await ask(id, mine)
    t.same([status, json], [404, unknown.json], id)
  }
  t.equal((await ask('2', theirs)).status, 200)
  t.equal((await wire.call('GET', `${EXPORT}?from=${START}&to=${START}`, { key: mine })).status, 404, 'nor in a range')
  t.equal(await wire.usage(mine, WINDOW), 0, '404 is never counted')
})

t.test('a query is one id, or a range, and nothing between', async (t) => {
  const { wire, key } = await openKeyed()
  const later = '2026-03-01T00:00:00Z'
  const refused = [
    '',
    ...['0', '-1', '1.0', '1e3', ''].map((id) => `?attestation_id=${id}`),
    `?from=${START}`,
    `?to=${START}`,
    `?attestation_id=2&from=${START}&to=${START}`,
    '?from=2026-01-01&to=2026-02-01',
    `?from=2026-02-30T00:00:00&to=${later}`,
    `?from=2026-02-30T00:00:00Z&to=${later}`,
    `?from=2026-02-10T24:00:00Z&to=${later}`,
    `?from=2026-02-10T00:00:00%2B24:00&to=${later}`,
    `?from=0000-01-01T00:00:00%2B01:00&to=${later}`,
    `?from=${START}&to=9999-12-31T23:59:59-01:00`,
  ]
  for (const query of refused) {
    const { status, json } = await wire.call('GET', EXPORT + query, { key })
    t.same([status, json.error], [400, 'invalid_request'], query)
  }
})
