import type { Row } from './league.ts'

/** What a visit got: the pages that were served, and what the tool got in place of the others. */
export function outcomeText({ visit, fault }: Pick<Row, 'visit' | 'fault'>, pages: number): string {
  if (visit === undefined) return fault === undefined ? '–' : 'failed'
  const refusal = visit.asked.map(({ decision }) => REFUSALS[decision.action]).find((word) => word !== undefined)
  if (visit.served === pages) return refusal === undefined ? `${pages}` : `${pages} (${refusal} solved)`
  if (visit.served === 0) return `0 (${refusal ?? fault ?? 'failed'})`
  return `${visit.served} then ${refusal ?? 'nothing'}`
}

const REFUSALS: Readonly<Record<string, string | undefined>> = { challenge: 'challenge', throttle: '429', block: 'block' }
