import type { Fault } from '../language/fault.ts'
import { PATH_MARK, parsePlace } from '../paths/redirect-place.ts'
import type { Rule } from '../policy.ts'

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
  if (to === PATH_MARK) return [{ path: ['to'], message: `"${PATH_MARK}" is where the request is` }]
  if (parsePlace(to) !== undefined) return []
  const message = `${JSON.stringify(to)} is neither a path nor an http URL, in ASCII; ${PATH_MARK} may stand once, behind a host`
  return [{ path: ['to'], message }]
}
