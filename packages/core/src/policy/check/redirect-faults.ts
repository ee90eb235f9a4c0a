import type { Fault } from '../language/fault.ts'
import { PATH_MARK, parsePlace } from '../paths/redirect-place.ts'
import type { Rule } from '../policy.ts'
import { isCounting } from './counts-by-user.ts'

export function redirectFaults(rule: Rule): readonly Fault[] {
  const { action, to } = rule
  if (action !== 'redirect') {
    return to === undefined ? [] : [{ path: ['to'], message: 'applies only to the action redirect' }]
  }
  if (isCounting(rule)) {
    return [{ path: ['action'], message: 'a rule with a limit cannot redirect. Use throttle' }]
  }
  if (to === undefined)
    return [{ path: ['to'], message: 'a rule with the action redirect needs to: a path or an http URL' }]
  if (to === PATH_MARK) return [{ path: ['to'], message: `"${PATH_MARK}" is the path of the request itself` }]
  if (parsePlace(to) !== undefined) return []
  const message = `${JSON.stringify(to)} is not a path or http URL in ASCII; ${PATH_MARK} may occur once, after a host`
  return [{ path: ['to'], message }]
}
