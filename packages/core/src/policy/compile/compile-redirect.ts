import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import { PATH_MARK, type Place, parsePlace } from '../paths/redirect-place.ts'
import type { Rule } from '../policy.ts'
import type { Test } from '../words/match-word.ts'

/** A rule that redirects, checked. */
export interface CompiledRedirect {
  /** Whether a visitor is sent there at all: a proven crawler or agent. */
  readonly isFor: Test
  /** Whether a request is: one that reads something, and not that place. */
  readonly applies: Test
  /** `Location` for a request, in ASCII. */
  locationOf(inspection: Inspection): string
}

/**
 * A redirect leads to a place that the configuration names: of a request nothing but its canonical path is in it, behind a
 * host. Who follows it arrives, since what is there already is let on.
 */
export function compileRedirect({ action, to = '' }: Rule): CompiledRedirect | undefined {
  if (action !== 'redirect') return undefined
  const place = parsePlace(to) as Place
  return {
    isFor: ({ agent, crawler }) => agent.identity?.verified === true || crawler?.outcome === 'verified',
    applies: (inspection, asked) => reads(inspection, asked) && !isThere(place, inspection, asked),
    locationOf: ({ request }) => to.replaceAll(PATH_MARK, () => request.path),
  }
}

function reads({ request: { method } }: Inspection, asked: Asked): boolean {
  return (method === 'GET' || method === 'HEAD') && !asked.has('upgrade')
}

function isThere({ host, before, after }: Place, { request: { path } }: Inspection, asked: Asked): boolean {
  if (host !== undefined && ![...asked.values(':authority'), ...asked.values('host')].includes(host)) return false
  if (after === undefined) return path === before
  return path.startsWith(before) && path.endsWith(after)
}
