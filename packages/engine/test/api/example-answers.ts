import { createFakeGeo, createFakeNetworks, createFakeSystems, makeHit, makeSystem } from '@sallyport/core/testing'
import { ROUTES } from '../../src/api/index.ts'
import { type Answer, createWire, SNAPSHOT } from './wire.ts'

const HETZNER = makeSystem({
  asn: 24940,
  name: 'Hetzner Online GmbH',
  type: 'hosting',
  networkClass: 'hosting',
  country: 'DE',
})
const RELAY = makeSystem({ asn: 60729, name: 'Stiftung Erneuerbare Freiheit', type: 'unknown' })
const FALKENSTEIN = {
  countryCode: 'DE',
  city: 'Falkenstein',
  region: 'Saxony',
  latitude: 50.48,
  longitude: 12.37,
  timezone: 'Europe/Berlin',
}

/** Answers of `/v1` to the example of every row, over a made internet of two networks: status and text by operation. */
export async function exampleAnswers(): Promise<ReadonlyMap<string, Pick<Answer, 'status' | 'text'>>> {
  const tor = { range: makeHit({ networkClass: 'tor', single: true }) }
  const snapshot = {
    ...SNAPSHOT,
    networks: createFakeNetworks([
      ['5.9.0.0/16', { system: HETZNER, inDatacenterRanges: true }],
      ['185.220.101.10/32', { system: RELAY, ...tor }],
      ['203.0.113.0/24', { system: HETZNER }],
    ]),
    systems: createFakeSystems([[HETZNER, ['5.9.0.0/16']]]),
    geo: createFakeGeo({ '5.9.10.20': FALKENSTEIN, '5.9.10.0': FALKENSTEIN, '185.220.101.10': { countryCode: 'DE' } }),
  }
  const wire = createWire({ snapshots: { current: () => snapshot } })
  const key = await wire.keyFor('pro')
  const answers = new Map<string, Pick<Answer, 'status' | 'text'>>()
  for (const { operationId, method, path, access, example = { path } } of ROUTES) {
    const { status, text } = await wire.call(method, example.path, {
      ...(access.kind === 'key' && { key }),
      ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
    })
    answers.set(operationId, { status, text })
  }
  return answers
}
