import { asnAnswer } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { AsnResponse } from '../schemas/asn-response.ts'
import { IpParams } from '../schemas/parameters.ts'
import { findingOf } from './address.ts'

export const asn = defineRoute({
  method: 'GET',
  path: '/v1/asn/{ip}',
  access: { kind: 'key', metered: true },
  operationId: 'asn',
  tag: 'Network',
  summary: 'The autonomous system of an address.',
  errors: [400, 401, 429, 500],
  params: IpParams,
  response: AsnResponse,
  answer: 'Number, organisation, type and country; what is unknown is left out.',
  handle({ params }, { snapshot }) {
    const { ip, finding } = findingOf(params.ip, snapshot)
    return asnAnswer(ip, finding)
  },
})
