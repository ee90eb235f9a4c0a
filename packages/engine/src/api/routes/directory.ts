import { parseAsn, SallyportError } from '@sallyport/core'
import { CLIENT_LIMITS } from '../client-limits.ts'
import { defineRoute } from '../route.ts'
import { AsnDirectoryEntry, AsnDirectoryList, DirectoryQuery } from '../schemas/directory.ts'
import { AsnParams } from '../schemas/words.ts'

/** The data changes by the day at most; the answers are public. */
const CACHE = 'public, max-age=3600'

export const directory = defineRoute('GET', '/v1/asn/directory', {
  example: { path: '/v1/asn/directory?q=hetzner&limit=5' },
  access: { kind: 'client', limit: CLIENT_LIMITS.asnDirectory },
  operationId: 'asnDirectory',
  tag: 'ASN directory',
  summary: 'List the largest autonomous systems, or search all of them.',
  description:
    '`q` searches by name or number, and puts an exact number first. Without `q` the response lists the largest.',
  errors: [429, 500],
  cache: CACHE,
  query: DirectoryQuery,
  response: AsnDirectoryList,
  answer: 'The autonomous systems that match.',
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

export const directoryEntry = defineRoute('GET', '/v1/asn/directory/{asn}', {
  example: { path: '/v1/asn/directory/AS24940' },
  access: { kind: 'client', limit: CLIENT_LIMITS.asnDirectory },
  operationId: 'asnDirectoryEntry',
  tag: 'ASN directory',
  summary: 'Look up an autonomous system.',
  errors: [400, 404, 429, 500],
  cache: CACHE,
  params: AsnParams,
  response: AsnDirectoryEntry,
  answer: 'The autonomous system, with its largest prefixes.',
  handle({ params }, context) {
    const number = parseAsn(params.asn)
    if (number === undefined) throw new SallyportError('invalid_asn')
    const entry = context.directory().entry(number)
    if (entry === undefined) throw new SallyportError('asn_not_found')
    return entry
  },
})
