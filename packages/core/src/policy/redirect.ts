import type { Inspection } from '../values/inspection.ts'
import type { Asked } from './asked.ts'
import type { Fault } from './fault.ts'
import type { Test } from './match-word.ts'
import type { Rule } from './policy.ts'

/** Stands in `to` for the canonical path of a request. */
const PATH = '{path}'

/** A rule that redirects, checked. */
export interface CompiledRedirect {
  /** Whether a visitor is sent there at all: a proven crawler or agent. */
  readonly isFor: Test
  /** Whether a request is: one that reads something, and not that place. */
  readonly applies: Test
  /** `Location` for a request, in ASCII. */
  locationOf(inspection: Inspection): string
}

/** The parts of `to`: an origin or nothing, and the path around that of the request. */
interface Place {
  readonly host: string | undefined
  readonly before: string
  /** Absent: one place for all requests. */
  readonly after: string | undefined
}

/**
 * A redirect leads to a place that the configuration names: of a request nothing but its canonical path is in it, behind a
 * host. Who follows it arrives, since what is there already is let on.
 */
export function compileRedirect({ action, to = '' }: Rule): CompiledRedirect | undefined {
  if (action !== 'redirect') return undefined
  const place = placeOf(to) as Place
  return {
    isFor: ({ agent, crawler }) => agent.identity?.verified === true || crawler?.outcome === 'verified',
    applies: (inspection, asked) => reads(inspection, asked) && !isThere(place, inspection, asked),
    locationOf: ({ request }) => to.replaceAll(PATH, () => request.path),
  }
}

/** Returns the faults of the place that a rule leads to. */
export function redirectFaults({ action, to, limit, concurrent }: Rule): readonly Fault[] {
  if (action !== 'redirect') {
    return to === undefined ? [] : [{ path: ['to'], message: 'only a rule with the action redirect leads to a place' }]
  }
  if (limit !== undefined || concurrent !== undefined) {
    return [{ path: ['action'], message: 'a rule that counts does not redirect: beyond its limit it throttles' }]
  }
  if (to === undefined)
    return [{ path: ['to'], message: 'a rule that redirects says where to: a path, or an http URL' }]
  if (to === PATH) return [{ path: ['to'], message: `"${PATH}" is where the request is` }]
  if (placeOf(to) !== undefined) return []
  const message = `${JSON.stringify(to)} is neither a path nor an http URL, in ASCII; ${PATH} may stand once, behind a host`
  return [{ path: ['to'], message }]
}

const WRITTEN = /^(?<host>https?:\/\/[^/?#{}\\@]+)?(?<path>(?:\/|\{path\})[!-~]*)$/

function placeOf(to: string): Place | undefined {
  const { host, path = '' } = WRITTEN.exec(to)?.groups ?? {}
  const [before = '', after, more] = path.split(PATH)
  const isOther = /^\/[/\\]/.test(path) || more !== undefined || /[{}\\]/.test(`${before}${after ?? ''}`)
  // A path begins with a slash: two of them begin a host.
  if (path === '' || isOther || (after !== undefined && before.endsWith('/'))) return undefined
  if (host !== undefined && !URL.canParse(host)) return undefined
  return { host: host && new URL(host).host, before: written(before), after: after && written(after) }
}

/** Without a query and a fragment, which are no part of a path that is compared. */
function written(text: string): string {
  return text.split(/[?#]/, 1)[0] as string
}

function reads({ request: { method } }: Inspection, asked: Asked): boolean {
  return (method === 'GET' || method === 'HEAD') && !asked.has('upgrade')
}

function isThere({ host, before, after }: Place, { request: { path } }: Inspection, asked: Asked): boolean {
  if (host !== undefined && ![...asked.values(':authority'), ...asked.values('host')].includes(host)) return false
  if (after === undefined) return path === before
  return path.startsWith(before) && path.endsWith(after)
}
