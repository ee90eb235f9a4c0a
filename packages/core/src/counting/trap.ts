import { isNamed } from '../address/forwarding.ts'
import { withoutPort } from '../address/without-port.ts'
import type { Inspection } from '../values/inspection.ts'
import { HOME_NETWORKS } from '../values/visitor.ts'

/** Paths that no visitor of a site has a reason to ask for. */
export interface Trap {
  /** `decoy`: paths of the site's own that exist nowhere. `probe`: paths that scanners try. */
  readonly on: 'decoy' | 'probe'
  /** The row that a request is for. */
  rowOf(request: Inspection['request']): string | undefined
}

/** The row of a trap that somebody stepped into; `undefined` for who is led there without a will of their own. */
export function steppedInto(trap: Trap, inspection: Inspection, fields: readonly string[]): string | undefined {
  const row = trap.rowOf(inspection.request)
  return row === undefined || mayBeProven(inspection) || isFetchedAhead(fields) || isPartOfPage(inspection, fields)
    ? undefined
    : row
}

/** A person on a home line, or where it is not known that it is none. */
export function isPersonAtHome({ agent, network }: Inspection): boolean {
  return agent.class === 'human' && HOME_NETWORKS.has(network.verdict.classification)
}

/**
 * Whether the page of another site sent a person's browser here, by a link, a frame or an image: the browser says so (Fetch Metadata), or
 * says nothing of the kind and names that site.
 */
export function isLedByOthers({ agent }: Inspection, fields: readonly string[]): boolean {
  if (agent.class !== 'human') return false
  const site = fieldOf(fields, 'sec-fetch-site')
  if (site !== undefined) return site === 'cross-site'
  const [referer, host] = [fieldOf(fields, 'referer'), fieldOf(fields, 'host') ?? fieldOf(fields, ':authority')]
  if (referer === undefined || host === undefined || !URL.canParse(referer)) return false
  return new URL(referer).hostname !== withoutPort(host.toLowerCase())
}

/**
 * Whether nothing in a person's request says that a page of this site led there: another site's page may keep its name to itself
 * (`referrerpolicy`), and browsers without Fetch Metadata then say nothing.
 */
export function isUnexplained({ agent }: Inspection, fields: readonly string[]): boolean {
  const named = ['sec-fetch-site', 'referer'].some((name) => fieldOf(fields, name) !== undefined)
  return agent.class === 'human' && !named
}

/** A crawler whose proof is under way, or one that shows a link to people and is not disproved. */
function mayBeProven({ crawler }: Inspection): boolean {
  if (crawler === undefined || crawler.outcome === 'spoofed') return false
  return crawler.pending || crawler.purpose === 'preview'
}

/** Fields in which browsers say that they fetch a link which nobody followed yet; the first is that of the standard. */
const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

function isFetchedAhead(fields: readonly string[]): boolean {
  return AHEAD.some((name) => /prefetch|prerender|preview/i.test(fieldOf(fields, name) ?? ''))
}

const ASKED_FOR: ReadonlySet<string> = new Set(['none', 'same-origin'])

/** A page had the browser fetch it, as an image or a script, or another site sent the browser there. */
function isPartOfPage({ agent }: Inspection, fields: readonly string[]): boolean {
  const dest = fieldOf(fields, 'sec-fetch-dest')
  const site = fieldOf(fields, 'sec-fetch-site')
  if (dest !== undefined || site !== undefined) {
    return (dest ?? 'document') !== 'document' || !ASKED_FOR.has(site ?? 'none')
  }
  // Over plain HTTP browsers say neither; where they go to a page they accept HTML.
  const accept = fieldOf(fields, 'accept')
  return agent.class === 'human' && accept !== undefined && !accept.includes('text/html')
}

function fieldOf(fields: readonly string[], name: string): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) if (isNamed(fields[at] as string, name)) return fields[at + 1]
  return undefined
}
