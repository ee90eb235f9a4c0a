import { canonicalPath } from '../policy/path.ts'
import type { Inspection } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Degraded } from '../vocabulary.ts'
import type { Asks } from './last-look.ts'
import type { Visitor } from './visitors.ts'

type Draft = { -readonly [Member in keyof Inspection]: Inspection[Member] }

/** What is known of a request, its visitor and who asks, as one value. `at` is ISO 8601. */
export function inspectionOf(
  { peer, method, target }: Pick<InspectionRequest, 'peer' | 'method' | 'target'>,
  { client, network, country }: Visitor,
  { agent, crawler }: Asks,
  degraded: readonly Degraded[],
  at: string,
): Inspection {
  const { path, canonical } = canonicalPath(target)
  const request = Object.freeze({ method, path, canonical })
  const inspection: Draft = { at, peer, client, request, network, agent, degraded }
  if (country !== undefined) inspection.country = country
  if (crawler !== undefined) inspection.crawler = crawler
  return Object.freeze(inspection)
}
