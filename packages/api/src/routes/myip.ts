import { CLIENT_LIMITS } from '@sallyport/accounts'
import { classify, formatAddress, locate, type NetworkFinding, SallyportError } from '@sallyport/core'
import { defineRoute } from '../route.ts'
import { MyIPResponse } from '../schemas/my-ip-response.ts'

export const myip = defineRoute({
  method: 'GET',
  path: '/v1/myip',
  access: { kind: 'client', limit: CLIENT_LIMITS.myip },
  operationId: 'myIp',
  tag: 'Lookup',
  summary: "The caller's own address, with geolocation and ASN.",
  errors: [400, 429, 500],
  response: MyIPResponse,
  answer: 'The address of the family the caller came by, and what is known of it.',
  handle(_input, { request, services, snapshot }) {
    const { address } = services.client(request)
    if (address === undefined) throw new SallyportError('invalid_ip', 'The address of the caller is not known.')
    const finding = classify(address, snapshot)
    const text = formatAddress(address)
    return {
      ...(address.family === 4 ? { ipv4: text } : { ipv6: text }),
      ...(finding.reserved.reserved ? {} : locate(address, snapshot).geo),
      ...systemFields(finding),
    }
  },
})

function systemFields({ asn, asName, asType, asCountry }: NetworkFinding) {
  if (asn === undefined) return {}
  return {
    asn: `AS${asn}`,
    ...(asName === undefined ? {} : { asnName: asName }),
    asnType: asType,
    ...(asCountry === undefined ? {} : { asnCountry: asCountry }),
  }
}
