import { DAY_MS, toMilliseconds } from '../../duration.ts'
import { COUNT_KEYS, COUNT_KINDS, COUNTED_ANSWERS } from '../../values/counting.ts'
import { closedFaults, type Fault, faultsAt, unknown } from '../language/fault.ts'
import { pathPatternFault } from '../paths/path-pattern.ts'
import { type Rule, STRIKE_KEYS, STRIKES_ACTIONS, type Strikes } from '../policy.ts'
import { isCounting } from './counts-by-user.ts'

export function countingFaults(rule: Rule): readonly Fault[] {
  const { action, limit, concurrent, cost, then, onError } = rule
  if (!isCounting(rule)) {
    const idle = (['cost', 'then'] as const).filter((member) => rule[member] !== undefined)
    const faults: Fault[] = idle.map((member) => ({ path: [member], message: 'has no effect without a limit' }))
    const message = 'throttle needs a limit. Add limit: { key: client, max: 10, window: 1m }'
    return action === 'throttle' ? [...faults, { path: ['action'], message }] : faults
  }
  const faults: Fault[] = []
  if (action === 'allow') {
    const message = 'a limit cannot allow. Use another action, and then: allow within the limit'
    faults.push({ path: ['action'], message })
  }
  if (onError !== undefined && then !== undefined) {
    faults.push({ path: ['onError'], message: 'then: allow excludes onError. Without data, the rule does not match' })
  }
  if (limit !== undefined) faults.push(...limitFaults(limit))
  if (typeof concurrent === 'number') faults.push(...wholeFault(['concurrent'], concurrent))
  else if (concurrent !== undefined) {
    const { key, max } = concurrent
    faults.push(...keyFaults(['concurrent', 'key'], key), ...wholeFault(['concurrent', 'max'], max))
  }
  return [...faults, ...costFaults(cost)]
}

function limitFaults({ key, max, window, kind, burst, count, failures }: NonNullable<Rule['limit']>): readonly Fault[] {
  const faults = [...keyFaults(['limit', 'key'], key), ...wholeFault(['limit', 'max'], max)]
  const kinds = closedFaults([
    [['limit', 'kind'], kind, COUNT_KINDS],
    [['limit', 'count'], count, COUNTED_ANSWERS],
  ])
  faults.push(...windowFault(['limit', 'window'], window), ...kinds)
  if (failures !== undefined && count !== 'failure') {
    faults.push({ path: ['limit', 'failures'], message: 'applies only to a limit with count: failure' })
  }
  faults.push(...faultsAt(['limit'], failureFaults(failures)))
  if (burst === undefined) return faults
  if (kind === 'bucket') return [...faults, ...wholeFault(['limit', 'burst'], burst)]
  return [...faults, { path: ['limit', 'burst'], message: 'applies only to a limit with kind: bucket' }]
}

export function failureFaults(failures: readonly number[] | undefined): readonly Fault[] {
  if (failures?.length === 0) return [{ path: ['failures'], message: 'the list of failure statuses is empty' }]
  return (failures ?? []).flatMap((status, index) =>
    Number.isInteger(status) && status >= 200 && status <= 599
      ? []
      : [{ path: ['failures', index], message: `${status} is not a status from 200 to 599` }],
  )
}

export function strikesFaults({ key, count, window, on, then, for: length }: Strikes): readonly Fault[] {
  const faults = [...wholeFault(['count'], count), ...windowFault(['window'], window), ...windowFault(['for'], length)]
  const words = closedFaults([
    [['key'], key, STRIKE_KEYS],
    [['then'], then, STRIKES_ACTIONS],
  ])
  faults.push(...words)
  if (on.length === 0) faults.push({ path: ['on'], message: 'the list of strikes is empty' })
  for (const [index, word] of on.entries()) {
    if (STRIKES.includes(word) || /^status:[45]\d\d$/.test(word)) continue
    faults.push({ path: ['on', index], message: `${unknown(word, STRIKES)} or status:400 to status:599` })
  }
  return faults
}

/** These offences count as a strike, besides statuses. */
const STRIKES: readonly string[] = ['flagged', 'throttled', 'blocked', 'decoy', 'challenge_failed']

function keyFaults(path: Fault['path'], key: string | readonly string[]): readonly Fault[] {
  const keys = [key].flat()
  if (keys.length === 0) return [{ path, message: 'the list of keys to count by is empty' }]
  const [bad] = closedFaults(keys.map((name) => [path, name, COUNT_KEYS]))
  if (bad !== undefined) return [bad]
  return new Set(keys).size === keys.length ? [] : [{ path, message: 'lists a key twice' }]
}

function wholeFault(path: Fault['path'], value: number): readonly Fault[] {
  const message = `${value} is not a whole number from 1 to 1000000000`
  return Number.isInteger(value) && value >= 1 && value <= 1e9 ? [] : [{ path, message }]
}

function windowFault(path: Fault['path'], given: string | number): readonly Fault[] {
  return durationFault(path, given, 100, '100ms to 31d, such as 1s, 5m or 1h')
}

/** Returns the fault of a duration below `least`, in milliseconds, or above 31 days; `range` says so in words. */
export function durationFault(path: Fault['path'], given: string | number, least: number, range: string) {
  const value = toMilliseconds(given)
  if (value >= least && value <= 31 * DAY_MS) return []
  return [{ path, message: `${JSON.stringify(given)} is not a duration from ${range}` }]
}

const METHOD = /^[A-Z][A-Z-]*$/

function costFaults(cost: Rule['cost']): readonly Fault[] {
  if (cost === undefined) return []
  if (typeof cost === 'number') return costFault(['cost'], cost)
  return Object.entries(cost).flatMap(([name, value]) => {
    const wrong = name.startsWith('/') ? pathPatternFault(name) : METHOD.test(name) ? undefined : notCosted(name)
    return wrong === undefined ? costFault(['cost', name], value) : [{ path: ['cost', name], message: wrong }]
  })
}

function notCosted(name: string): string {
  return `"${name}" is not a method in capitals or a path`
}

function costFault(path: Fault['path'], value: number): readonly Fault[] {
  const fits = Number.isFinite(value) && value >= 0 && value <= 1e9
  return fits ? [] : [{ path, message: `${value} is not a cost. Use a number from 0` }]
}
