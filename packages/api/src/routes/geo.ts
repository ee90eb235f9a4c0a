import { formatAddress, locate, reservedRow, SallyportError } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { GeolocationResponse } from '../schemas/geolocation-response.ts'
import { IpParams } from '../schemas/parameters.ts'
import { addressOf } from './address.ts'

export const geo = defineRoute({
  method: 'GET',
  path: '/v1/geo/{ip}',
  access: { kind: 'key', metered: true },
  operationId: 'geolocation',
  tag: 'Network',
  summary: 'Where an address is.',
  errors: [400, 401, 429, 500],
  params: IpParams,
  response: GeolocationResponse,
  answer: 'Geolocation; what is unknown is left out.',
  handle({ params }, { snapshot }) {
    const address = addressOf(params.ip)
    const ip = formatAddress(address)
    if (reservedRow(address) !== undefined) return { ip }
    const located = locate(address, snapshot)
    // An answer without a place would say that the place is unknown.
    if (located.degraded) throw new SallyportError('service_unavailable')
    return { ip, ...located.geo }
  },
})
