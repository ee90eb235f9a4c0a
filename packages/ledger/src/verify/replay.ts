import { parseJson } from './json.ts'
import { type AttestationRecord, UNKNOWN_REGION } from './record.ts'
import { Members, ShapeError } from './shape.ts'

/**
 * Decides an attestation again by the policy document, in the words of that document alone. Written apart from the
 * policy of the service on purpose: a verifier that shared its code would share its mistakes. Throws ShapeError for a
 * document that cannot be read, and gives `undefined` where no rule matches.
 */
export function replayPolicy(
  document: string,
  record: AttestationRecord,
): { readonly action: string; readonly reason: string } | undefined {
  const policy = new Members(parseJson(document, 'policy'), 'policy')
  const groups = policy.objects('groups').map((group) => [group.text('id'), texts(group, 'countries')] as const)
  const rule = policy.objects('rules').find((row) => matches(row.object('match'), record, groups))
  return rule === undefined ? undefined : { action: rule.text('action'), reason: rule.text('id') }
}

type Groups = readonly (readonly [id: string, countries: readonly string[]])[]

const UNKNOWN = 'unknown'

function matches(match: Members, record: AttestationRecord, groups: Groups): boolean {
  const country = record.country ?? UNKNOWN
  const reserved = record.method === 'reserved'
  return (
    (!match.has('reserved') || match.boolean('reserved') === reserved) &&
    (!match.has('anonymized') || match.boolean('anonymized') === record.anonymized) &&
    (!match.has('networkClass') || texts(match, 'networkClass').includes(record.networkOrigin)) &&
    (!match.has('claim') || listClaims(record).some((claim) => holds(texts(match, 'claim'), claim, groups))) &&
    (!match.has('country') || holds(texts(match, 'country'), country, groups)) &&
    (!match.has('relation') || texts(match, 'relation').includes(compareClaim(record, groups)))
  )
}

/** A record says a region where its claim names one; the claim is then one of the country too. */
function listClaims({ claim, region }: AttestationRecord): readonly string[] {
  return region === undefined ? [claim] : [claim, claim.slice(0, 2)]
}

/** The relation of the place that was found to the claim, which names a region, a country or a group of countries. */
function compareClaim({ claim, country, region }: AttestationRecord, groups: Groups): string {
  if (region !== undefined && region !== UNKNOWN_REGION) return region.split(',').includes(claim) ? 'match' : 'mismatch'
  if (region !== undefined && country === claim.slice(0, 2)) return UNKNOWN
  if (country === undefined) return UNKNOWN
  return holds([claim], country, groups) ? 'match' : 'mismatch'
}

function holds(entries: readonly string[], wanted: string, groups: Groups): boolean {
  if (entries.includes(wanted)) return true
  return groups.some(([id, countries]) => entries.includes(id) && countries.includes(wanted))
}

function texts(members: Members, name: string): readonly string[] {
  return members.list(name).map((entry) => {
    if (typeof entry !== 'string') throw new ShapeError(`${members.at(name)}: not a list of texts`)
    return entry
  })
}
