import { classify, formatAddress, locate, type NetworkFinding, SallyportError } from '@sallyport/core'
import { CLIENT_LIMITS } from '../client-limits.ts'
import { defineRoute } from '../route.ts'
import { LookupRequest, LookupResult, MyIPResponse } from '../schemas/lookup.ts'
import { IpParams } from '../schemas/words.ts'
import { readAddress } from './address.ts'
import { nameAsker } from './asker.ts'

export const demo = defineRoute('GET', '/v1/demo/{ip}', {
  example: { path: '/v1/demo/185.220.101.10' },
  access: { kind: 'client', limit: CLIENT_LIMITS.demo },
  operationId: 'demoLookup',
  tag: 'Lookup',
  summary: 'Look up an address without a key.',
  errors: [400, 429, 500],
  headers: { 'X-SVC-Demo': 'true' },
  params: IpParams,
  response: LookupResult,
  answer: 'What is known about the address.',
  handle({ params }, { services }) {
    readAddress(params.ip)
    return services.lookup.lookup(params.ip)
  },
})

export const lookup = defineRoute('POST', '/v1/ip/lookup', {
  example: { path: '/v1/ip/lookup', body: { target: '5.9.10.0/24' } },
  access: { kind: 'key', metered: true },
  operationId: 'lookup',
  tag: 'Lookup',
  summary: 'Look up an address, a CIDR range, a hostname or a URL.',
  description: '`degraded` names each part of the lookup that failed; the status is 200 nevertheless.',
  errors: [400, 401, 429, 500],
  body: LookupRequest,
  response: LookupResult,
  answer: 'What is known about the target.',
  handle: ({ body }, context) => context.services.lookup.lookup(body.target, nameAsker(context)),
})

export const myip = defineRoute('GET', '/v1/myip', {
  example: { path: '/v1/myip' },
  access: { kind: 'client', limit: CLIENT_LIMITS.myip },
  operationId: 'myIp',
  tag: 'Lookup',
  summary: 'Look up the address of the caller, with geolocation and ASN.',
  errors: [400, 429, 500],
  response: MyIPResponse,
  answer: 'The address that the caller connected from, and what is known about it.',
  async handle(_input, { request, services, snapshot }) {
    const { address } = services.client(request)
    if (address === undefined) throw new SallyportError('invalid_ip', 'The address of the caller is not known.')
    const finding = classify(address, snapshot)
    const text = formatAddress(address)
    return {
      ...(address.family === 4 ? { ipv4: text } : { ipv6: text }),
      ...(finding.reserved.reserved ? {} : (await locate(address, snapshot)).geo),
      ...systemFields(finding),
    }
  },
})

function systemFields({ asn, asName, asType, asCountry }: NetworkFinding) {
  if (asn === undefined) return {}
  return {
    asn: `AS${asn}`,
    asnName: asName,
    asnType: asType,
    asnCountry: asCountry,
  }
}
