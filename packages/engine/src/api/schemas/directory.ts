import { DIRECTORY_ORDERS } from '@sallyport/core'
import { z } from 'zod'
import { AsnLabel, AsnNetworkType, int64, named } from './words.ts'

export const AsnDirectorySummary = named('AsnDirectorySummary', {
  asn: z.int(),
  label: AsnLabel,
  org: z.string(),
  networkType: AsnNetworkType,
  ipv4Prefixes: z.int(),
  ipv6Prefixes: z.int(),
  prefixes: z.int().meta({ description: 'Both families added.' }),
  addresses: int64().meta({ description: 'IPv4 addresses over all prefixes; IPv6 is not counted.' }),
})

export const AsnDirectoryList = named('AsnDirectoryList', {
  total: z.int().meta({ description: 'Autonomous systems in the database.' }),
  count: z.int().meta({ description: 'Results in this response.' }),
  by: z.enum(DIRECTORY_ORDERS).meta({ description: 'On the top list only.' }).optional(),
  query: z.string().meta({ description: 'On a search only.' }).optional(),
  results: z.array(AsnDirectorySummary),
})

export const AsnDirectoryEntry = AsnDirectorySummary.extend({
  samplePrefixes: z
    .array(
      z.object({
        prefix: z.string().meta({ description: 'CIDR notation.' }),
        version: z.literal([4, 6]).meta({ override: { type: 'integer' } }),
        addresses: int64().meta({ description: 'IPv4 only.' }).optional(),
      }),
    )
    .max(12)
    .meta({ description: 'IPv4 largest first, then IPv6.' }),
  vpnRangePrefixes: z.int().meta({ description: 'IPv4 prefixes that start inside a public VPN range list.' }),
  datacenterRangePrefixes: z
    .int()
    .meta({ description: 'IPv4 prefixes that start inside a public datacenter range list.' }),
  rangesLoaded: z
    .boolean()
    .meta({ description: 'False while the range lists are not loaded; the two counts mean nothing then.' }),
}).meta({ id: 'AsnDirectoryEntry' })

const CLAMPED =
  'An integer out of range is replaced by the nearest bound, and any other value by the default; neither fails with 400.'

/** Makes an integer of a query that is never refused: out of range it takes the nearest bound, and unreadable the default. */
function clamp(min: number, max: number, fallback: number, description: string) {
  return z
    .string()
    .optional()
    .transform((text) => {
      if (text === undefined || !/^[+-]?\d+$/.test(text)) return fallback
      return Math.min(max, Math.max(min, Number(text)))
    })
    .meta({
      description: `${description} ${CLAMPED}`,
      override: { type: 'integer', minimum: min, maximum: max, default: fallback },
    })
}

/** The query of `GET /v1/asn/directory`; every text has a meaning, so this route never answers 400. */
export const DirectoryQuery = z.object({
  top: clamp(1, 1000, 100, 'Length of the top list; ignored when `q` is set.'),
  by: z
    .string()
    .optional()
    .transform((text) => DIRECTORY_ORDERS.find((order) => order === text) ?? 'addresses')
    .meta({
      description: 'Order of the top list; any other value is replaced by the default.',
      override: { type: 'string', enum: [...DIRECTORY_ORDERS], default: 'addresses' },
    }),
  q: z.string().optional().meta({ description: 'Part of a name, a number, or `AS<number>`.' }),
  limit: clamp(1, 100, 20, 'Length of a search; used with `q` only.'),
})
