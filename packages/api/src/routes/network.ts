import { anonymises, riskScore, type Snapshot } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { IpParams } from '../schemas/parameters.ts'
import { ProxyResponse, VpnResponse } from '../schemas/vpn-response.ts'
import { findingOf } from './address.ts'

const RULE = 'Hosting and datacenter networks state ownership; they are not anonymisation.'

export const vpn = defineRoute({
  method: 'GET',
  path: '/v1/vpn/{ip}',
  access: { kind: 'key', metered: true },
  operationId: 'vpn',
  tag: 'Network',
  summary: 'Whether an address belongs to a VPN or another anonymiser.',
  description: RULE,
  errors: [400, 401, 429, 500],
  params: IpParams,
  response: VpnResponse,
  answer: 'Network class and risk score.',
  handle({ params }, { snapshot }) {
    const { ip, hides, ...network } = networkOf(params.ip, snapshot)
    return { ip, isVpn: hides, ...network }
  },
})

export const proxy = defineRoute({
  method: 'GET',
  path: '/v1/proxy/{ip}',
  access: { kind: 'key', metered: true },
  operationId: 'proxy',
  tag: 'Network',
  summary: 'Whether an address belongs to a proxy or another anonymiser.',
  description: RULE,
  errors: [400, 401, 429, 500],
  params: IpParams,
  response: ProxyResponse,
  answer: 'Network class and risk score.',
  handle({ params }, { snapshot }) {
    const { ip, hides, ...network } = networkOf(params.ip, snapshot)
    return { ip, isProxy: hides, ...network }
  },
})

/** What both routes say. */
function networkOf(text: string, snapshot: Snapshot) {
  const { ip, finding } = findingOf(text, snapshot)
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
