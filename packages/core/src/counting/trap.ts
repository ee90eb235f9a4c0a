import { findField } from '../address/forwarding.ts'
import { urlHost } from '../address/hostname.ts'
import { withoutPort } from '../address/without-port.ts'
import type { Inspection } from '../values/inspection.ts'
import { HOME_NETWORKS } from '../values/visitor.ts'

/** No visitor of a site has a reason to request these paths. */
export interface Trap {
  /** `decoy`: paths of the site's own that exist nowhere. `probe`: paths that scanners try. */
  readonly on: 'decoy' | 'probe'
  findRow(request: Inspection['request']): string | undefined
}

/** Returns the row of a trap that a client stepped into; `undefined` for a client that did not choose to go there. */
export function steppedInto(trap: Trap, inspection: Inspection, fields: readonly string[]): string | undefined {
  const row = trap.findRow(inspection.request)
  return row === undefined || mayBeProven(inspection) || isFetchedAhead(fields) || isPartOfPage(inspection, fields)
    ? undefined
    : row
}

/** Reports whether a person is on a home line, or on a network that may be one. */
export function isPersonAtHome({ agent, network }: Inspection): boolean {
  return agent.class === 'human' && HOME_NETWORKS.has(network.verdict.classification)
}

/**
 * Reports whether the page of another site sent a person's browser here, by a link, a frame or an image: Fetch Metadata says so, or is
 * missing and the Referer names that site.
 */
export function isLedByOthers({ agent }: Inspection, fields: readonly string[]): boolean {
  if (agent.class !== 'human') return false
  const site = findField(fields, 'sec-fetch-site')
  if (site !== undefined) return site === 'cross-site'
  const [referer, host] = [findField(fields, 'referer'), findField(fields, 'host') ?? findField(fields, ':authority')]
  const from = referer === undefined ? undefined : urlHost(referer)
  return from !== undefined && host !== undefined && from !== withoutPort(host.toLowerCase())
}

/**
 * Reports whether nothing in a person's request shows that a page of this site led there: another site's page may hide its name
 * (`referrerpolicy`), and browsers without Fetch Metadata then say nothing.
 */
export function isUnexplained({ agent }: Inspection, fields: readonly string[]): boolean {
  const named = ['sec-fetch-site', 'referer'].some((name) => findField(fields, name) !== undefined)
  return agent.class === 'human' && !named
}

/** Reports whether a crawler's verification is in flight, or a crawler shows a link to people and is not disproved. */
function mayBeProven({ crawler }: Inspection): boolean {
  if (crawler === undefined || crawler.outcome === 'spoofed') return false
  return crawler.pending || crawler.purpose === 'preview'
}

/** Browsers mark a prefetch in these fields; the first is the standard's. */
const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

function isFetchedAhead(fields: readonly string[]): boolean {
  return AHEAD.some((name) => /prefetch|prerender|preview/i.test(findField(fields, name) ?? ''))
}

const ASKED_FOR: ReadonlySet<string> = new Set(['none', 'same-origin'])

/** Reports whether a page made the browser fetch it, as an image or a script, or another site sent the browser there. */
function isPartOfPage({ agent }: Inspection, fields: readonly string[]): boolean {
  const dest = findField(fields, 'sec-fetch-dest')
  const site = findField(fields, 'sec-fetch-site')
  if (dest !== undefined || site !== undefined) {
    return (dest ?? 'document') !== 'document' || !ASKED_FOR.has(site ?? 'none')
  }
  // Over plain HTTP browsers send neither field; where they navigate they accept HTML.
  const accept = findField(fields, 'accept')
  return agent.class === 'human' && accept !== undefined && !accept.includes('text/html')
}
