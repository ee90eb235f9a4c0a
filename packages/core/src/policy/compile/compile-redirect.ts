import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import { PATH_MARK, type Place, parsePlace } from '../paths/redirect-place.ts'
import type { Rule } from '../policy.ts'

export type CompiledRedirect = NonNullable<ReturnType<typeof compileRedirect>>

/**
 * Compiles a redirect to a place that the configuration names: of a request it contains only the canonical path, behind a host. A client
 * that follows it arrives, since requests that are already there pass.
 */
export function compileRedirect({ action, to = '' }: Rule) {
  if (action !== 'redirect') return undefined
  const place = parsePlace(to) as Place
  return {
    /** Reports whether a visitor is redirected at all: a proven crawler or agent. */
    isFor: ({ agent, crawler }: Inspection) => agent.identity?.verified === true || crawler?.outcome === 'verified',
    /** Reports whether a request is redirected: one that reads a resource elsewhere than that place. */
    applies: (inspection: Inspection, asked: Asked) => reads(inspection, asked) && !isThere(place, inspection, asked),
    /** Returns `Location` for a request, in ASCII. */
    makeLocation: ({ request }: Inspection) => to.replaceAll(PATH_MARK, () => request.path),
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
