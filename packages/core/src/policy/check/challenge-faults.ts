import { DAY_MS, toMilliseconds } from '../../duration.ts'
import { CHALLENGE_LEVELS } from '../../values/challenge.ts'
import { closedFaults, type Fault } from '../language/fault.ts'
import type { Rule } from '../policy.ts'

const PASS = { least: 60_000, most: 31 * DAY_MS }

export function challengeFaults({ action, challenge }: Rule): readonly Fault[] {
  if (challenge === undefined) return []
  if (action !== 'challenge') return [{ path: ['challenge'], message: 'applies only to the action challenge' }]
  const { level = 1, pass, script } = challenge
  const faults = [...closedFaults([[['challenge', 'level'], level, CHALLENGE_LEVELS]])]
  const passMs = pass === undefined ? PASS.least : toMilliseconds(pass)
  if (!(passMs >= PASS.least && passMs <= PASS.most)) {
    const message = `${JSON.stringify(pass)} is not a duration from 1m to 31d, such as 30m, 12h or 7d`
    faults.push({ path: ['challenge', 'pass'], message })
  }
  if (script !== undefined && level === 1) {
    faults.push({ path: ['challenge', 'script'], message: 'level 1 runs no script. Use level 2 or 3' })
  }
  return faults
}
