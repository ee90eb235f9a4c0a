import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import { PATH_MARK, type Place, parsePlace } from '../paths/redirect-place.ts'
import type { Rule } from '../policy.ts'
import type { Test } from '../words/match-word.ts'

export interface CompiledRedirect {
  /** Reports whether a visitor is redirected at all: a proven crawler or agent. */
  readonly isFor: Test
  /** Reports whether a request is redirected: one that reads a resource elsewhere than that place. */
  readonly applies: Test
  /** Returns `Location` for a request, in ASCII. */
  locationOf(inspection: Inspection): string
}

/**
 * Compiles a redirect to a place that the configuration names: of a request it contains only the canonical path, behind a host. A client
 * that follows it arrives, since requests that are already there pass.
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
