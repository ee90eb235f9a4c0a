import { CLIENT_LIMITS } from '@sallyport/accounts'
import { defineRoute } from '../route.ts'
import { LookupRequest, LookupResult } from '../schemas/lookup-result.ts'
import { IpParams } from '../schemas/parameters.ts'
import { addressOf } from './address.ts'

export const demo = defineRoute({
  method: 'GET',
  path: '/v1/demo/{ip}',
  access: { kind: 'client', limit: CLIENT_LIMITS.demo },
  operationId: 'demoLookup',
  tag: 'Lookup',
  summary: 'The combined lookup of one address, without a key.',
  errors: [400, 429, 500],
  headers: { 'X-SVC-Demo': 'true' },
  params: IpParams,
  response: LookupResult,
  answer: 'All that is known of the address.',
  handle({ params }, { services }) {
    addressOf(params.ip)
    return services.lookup.lookup(params.ip)
  },
})

export const lookup = defineRoute({
  method: 'POST',
  path: '/v1/ip/lookup',
  access: { kind: 'key', metered: true },
  operationId: 'lookup',
  tag: 'Lookup',
  summary: 'The combined lookup of an address, a CIDR range, a hostname or a URL.',
  description: 'A sub-lookup that fails is named in `degraded`, and the answer is still 200.',
  errors: [400, 401, 429, 500],
  body: LookupRequest,
  response: LookupResult,
  answer: 'All that is known of the target.',
  handle: ({ body }, { services }) => services.lookup.lookup(body.target),
})
