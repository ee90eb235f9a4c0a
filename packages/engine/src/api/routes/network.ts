import {
  anonymises,
  asnAnswer,
  formatAddress,
  locate,
  reservedRow,
  riskScore,
  SallyportError,
  type Snapshot,
} from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { AsnResponse, GeolocationResponse, ProxyResponse, VpnResponse } from '../schemas/lookup.ts'
import { IpParams } from '../schemas/words.ts'
import { findNetwork, readAddress } from './address.ts'

/** Every route of this file has these members. */
const ROW = {
  access: { kind: 'key', metered: true },
  tag: 'Network',
  errors: [400, 401, 429, 500],
  params: IpParams,
} as const

/** Each route about anonymisers has these members. */
const ANONYMISER_ROW = {
  ...ROW,
  description: 'The classes hosting and datacenter say who owns a network; they do not mean that it hides its users.',
  answer: 'Network class and risk score.',
} as const

export const vpn = defineRoute('GET', '/v1/vpn/{ip}', {
  ...ANONYMISER_ROW,
  example: { path: '/v1/vpn/185.220.101.10' },
  operationId: 'vpn',
  summary: 'Detect whether an address belongs to a VPN or another anonymiser.',
  response: VpnResponse,
  handle({ params }, { snapshot }) {
    const { ip, hides, ...network } = describeNetwork(params.ip, snapshot)
    return { ip, isVpn: hides, ...network }
  },
})

export const proxy = defineRoute('GET', '/v1/proxy/{ip}', {
  ...ANONYMISER_ROW,
  example: { path: '/v1/proxy/5.9.10.20' },
  operationId: 'proxy',
  summary: 'Detect whether an address belongs to a proxy or another anonymiser.',
  response: ProxyResponse,
  handle({ params }, { snapshot }) {
    const { ip, hides, ...network } = describeNetwork(params.ip, snapshot)
    return { ip, isProxy: hides, ...network }
  },
})

function describeNetwork(text: string, snapshot: Snapshot) {
  const { ip, finding } = findNetwork(text, snapshot)
  const { classification, anonymized } = finding.verdict
  return {
    ip,
    hides: anonymises(classification),
    isTor: classification === 'tor',
    networkClass: classification,
    anonymized,
    provider: finding.provider,
    riskScore: riskScore(finding),
  }
}

export const geo = defineRoute('GET', '/v1/geo/{ip}', {
  ...ROW,
  example: { path: '/v1/geo/5.9.10.20' },
  operationId: 'geolocation',
  summary: 'Locate an address.',
  response: GeolocationResponse,
  answer: 'The geolocation. Unknown fields are omitted.',
  async handle({ params }, { snapshot }) {
    const address = readAddress(params.ip)
    const ip = formatAddress(address)
    if (reservedRow(address) !== undefined) return { ip }
    const located = await locate(address, snapshot)
    // Without a country either an answer would claim that the place is unknown.
    if (located.degraded && located.geo.countryCode === undefined) throw new SallyportError('service_unavailable')
    return { ip, ...located.geo }
  },
})

export const asn = defineRoute('GET', '/v1/asn/{ip}', {
  ...ROW,
  example: { path: '/v1/asn/5.9.10.20' },
  operationId: 'asn',
  summary: 'Find the autonomous system of an address.',
  response: AsnResponse,
  answer: 'Number, organisation, type and country. Unknown fields are omitted.',
  handle({ params }, { snapshot }) {
    const { ip, finding } = findNetwork(params.ip, snapshot)
    return asnAnswer(ip, finding)
  },
})
