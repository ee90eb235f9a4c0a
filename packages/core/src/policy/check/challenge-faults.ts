import { CHALLENGE_LEVELS } from '../../values/challenge.ts'
import { closedFaults, type Fault } from '../language/fault.ts'
import type { Rule } from '../policy.ts'
import { durationFault } from './counting-faults.ts'

export function challengeFaults({ action, challenge }: Rule): readonly Fault[] {
  if (challenge === undefined) return []
  if (action !== 'challenge') return [{ path: ['challenge'], message: 'applies only to the action challenge' }]
  const { level = 1, pass, script } = challenge
  const faults = [...closedFaults([[['challenge', 'level'], level, CHALLENGE_LEVELS]])]
  if (pass !== undefined) {
    faults.push(...durationFault(['challenge', 'pass'], pass, 60_000, '1m to 31d, such as 30m, 12h or 7d'))
  }
  if (script !== undefined && level === 1) {
    faults.push({ path: ['challenge', 'script'], message: 'level 1 runs no script. Use level 2 or 3' })
  }
  return faults
}
