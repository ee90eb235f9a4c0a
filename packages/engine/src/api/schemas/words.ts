import { AS_TYPES, NETWORK_CLASSES } from '@sallyport/core'
import { z } from 'zod'

export const NetworkClass = z.enum(NETWORK_CLASSES).meta({ id: 'NetworkClass' })

export const AsnNetworkType = z.enum(AS_TYPES).meta({ id: 'AsnNetworkType' })

/** Makes the schema of an object that the OpenAPI document lists under this name. */
export function named<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id })
}

/** A 64-bit integer of the wire; JSON numbers carry the integers up to 2^53 - 1 exactly. */
export const int64 = () => z.int().meta({ format: 'int64' })

/** `AS<number>`. */
export const AsnLabel = z.string().meta({ examples: ['AS13335'] })

/** Countries have two capital letters (ISO 3166-1). */
export const CountryCode = z.string().meta({ examples: ['DE'] })

/** RFC 3339, UTC. */
export const Moment = z.string().meta({ format: 'date-time' })

/** `YYYY-MM-DD`. */
export const Day = z.string().meta({ format: 'date' })

/** `{ip}` of a path. Read by the route, because what is not an address has an error code of its own. */
export const IpParams = z.object({
  ip: z.string().meta({ description: 'An IPv4 or IPv6 address.', examples: ['1.1.1.1', '2606:4700:4700::1111'] }),
})

/** `{domain}` of a path, read by the route. */
export const DomainParams = z.object({
  domain: z
    .string()
    .meta({ description: 'A domain name, or the name of a host below one.', examples: ['example.com'] }),
})

/** `{asn}` of a path, read by the route. */
export const AsnParams = z.object({
  asn: z.string().meta({ description: '`AS<number>` or the number.', examples: ['AS13335', '13335'] }),
})
