import { z } from 'zod'
import { int64 } from './words.ts'

/** Specification: Target, the parsed input. */
export const Target = z
  .object({
    raw: z.string().meta({ description: 'The input as given.' }),
    kind: z.enum(['ipv4', 'ipv6', 'cidr', 'hostname']),
    ip: z.string().meta({ description: 'The address that was looked at: of a range, its first.' }).optional(),
    hostname: z.string().meta({ description: 'Present for hostnames.' }).optional(),
    network: z.string().meta({ description: 'CIDR notation.' }).optional(),
    addresses: int64()
      .meta({ description: 'Addresses of a range; left out for ranges wider than 65,536 hosts.' })
      .optional(),
  })
  .meta({ id: 'Target' })
export type Target = z.output<typeof Target>
