import { parseAsn, SallyportError } from '@sallyport/core'
import { CLIENT_LIMITS } from '../client-limits.ts'
import { defineRoute } from '../route.ts'
import { AsnDirectoryEntry, AsnDirectoryList, DirectoryQuery } from '../schemas/directory.ts'
import { AsnParams } from '../schemas/words.ts'

/** The data changes by the day at most; the answers are public. */
const CACHE = 'public, max-age=3600'

export const directory = defineRoute({
  method: 'GET',
  path: '/v1/asn/directory',
  example: { path: '/v1/asn/directory?q=hetzner&limit=5' },
  access: { kind: 'client', limit: CLIENT_LIMITS.asnDirectory },
  operationId: 'asnDirectory',
  tag: 'ASN directory',
  summary: 'The largest autonomous systems, or a search among all.',
  description: 'With `q` a search by name or number, an exact number first; without it the top list.',
  errors: [429, 500],
  cache: CACHE,
  query: DirectoryQuery,
  response: AsnDirectoryList,
  answer: 'The networks found.',
  handle({ query: { top, by, q, limit } }, context) {
    const { total, ...systems } = context.directory()
    const searched = q?.trim()
    if (searched) {
      const results = systems.search(searched, limit)
      return { total, count: results.length, query: searched, results }
    }
    const results = systems.top(by, top)
    return { total, count: results.length, by, results }
  },
})

export const directoryEntry = defineRoute({
  method: 'GET',
  path: '/v1/asn/directory/{asn}',
  example: { path: '/v1/asn/directory/AS24940' },
  access: { kind: 'client', limit: CLIENT_LIMITS.asnDirectory },
  operationId: 'asnDirectoryEntry',
  tag: 'ASN directory',
  summary: 'One autonomous system.',
  errors: [400, 404, 429, 500],
  cache: CACHE,
  params: AsnParams,
  response: AsnDirectoryEntry,
  answer: 'The network, with its largest prefixes.',
  handle({ params }, context) {
    const number = parseAsn(params.asn)
    if (number === undefined) throw new SallyportError('invalid_asn')
    const entry = context.directory().entry(number)
    if (entry === undefined) throw new SallyportError('asn_not_found')
    return entry
  },
})
