import { z } from 'zod'

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
