import { DAY_MS } from '../duration.ts'
import type { AccountFacts } from '../values/account-event.ts'
import { findTravel, type LoginPlace, type Travel } from './travel.ts'

/** A value has the first and the last day on which it was seen, in days since the epoch. */
export type SeenValue = readonly [value: string, first: number, last: number]

/** Holds all that is kept of the logins of one user. */
export interface UserMemory {
  readonly networks: readonly SeenValue[]
  readonly countries: readonly SeenValue[]
  readonly browsers: readonly SeenValue[]
  /** The last login from an access network had this place. */
  readonly place?: LoginPlace | undefined
}

/** A login names its network, its country and its browser. */
export interface Sighting {
  /** The login was at this time, in milliseconds since the epoch. */
  readonly at: number
  readonly network?: string | undefined
  readonly country?: string | undefined
  readonly browser?: string | undefined
  readonly place?: LoginPlace | undefined
}

/** Counts the days for which a login is remembered. */
export const MEMORY_DAYS = 90
/** An account without a login for this many days is dormant. */
const DORMANT_DAYS = 60

/** Limits how many values of one user are kept: the value unseen for longest is dropped. */
const MOST = { networks: 20, countries: 10, browsers: 10 } as const

const EMPTY: UserMemory = { networks: [], countries: [], browsers: [] }

/** Adds a login to the memory. A clock that went back moves no day back. */
export function rememberLogin(
  memory: UserMemory = EMPTY,
  { at, network, country, browser, place }: Sighting,
): UserMemory {
  const day = Math.floor(at / DAY_MS)
  const latest = place ?? memory.place
  return {
    networks: addSeen(memory.networks, network, day, MOST.networks),
    countries: addSeen(memory.countries, country, day, MOST.countries),
    browsers: addSeen(memory.browsers, browser, day, MOST.browsers),
    ...(latest && { place: latest }),
  }
}

function addSeen(
  seen: readonly SeenValue[],
  value: string | undefined,
  day: number,
  most: number,
): readonly SeenValue[] {
  const live = seen.filter(([, , last]) => day - last < MEMORY_DAYS)
  if (value === undefined) return live
  const [, first = day, last = day] = live.find(([name]) => name === value) ?? []
  const others = live.filter(([name]) => name !== value).toSorted((one, other) => other[2] - one[2])
  return [[value, Math.min(first, day), Math.max(last, day)], ...others.slice(0, most - 1)]
}

/** Holds the facts of a login that follow from the memory, and the travel of the user where there was any. */
export interface JudgedLogin {
  readonly facts: AccountFacts
  readonly travel?: Travel | undefined
  /** This user never had values of these kinds. */
  readonly fresh: readonly ('network' | 'country' | 'browser')[]
}

/** Compares a login with the memory of its user; without a memory the user is unknown, and nothing is new. */
export function judgeLogin(memory: UserMemory | undefined, sighting: Sighting): JudgedLogin {
  if (memory === undefined || memory.networks.length === 0) {
    return { facts: { known: false, travel: false, novel: false, dormant: false }, fresh: [] }
  }
  const day = Math.floor(sighting.at / DAY_MS)
  const has = (seen: readonly SeenValue[], value: string | undefined) =>
    seen.some(([name, , last]) => name === value && day - last < MEMORY_DAYS)
  const hasNetwork = has(memory.networks, sighting.network)
  const hasBrowser = has(memory.browsers, sighting.browser)
  const fresh = [
    ...(sighting.network === undefined || hasNetwork ? [] : (['network'] as const)),
    ...(sighting.country === undefined || has(memory.countries, sighting.country) ? [] : (['country'] as const)),
    ...(sighting.browser === undefined || hasBrowser ? [] : (['browser'] as const)),
  ]
  const lastDay = Math.max(...memory.networks.map(([, , last]) => last))
  const travel = hasNetwork ? undefined : findTravel(memory.place, sighting.place)
  return {
    facts: {
      known: hasNetwork && hasBrowser,
      travel: travel !== undefined,
      novel: fresh.length > 0,
      dormant: day - lastDay >= DORMANT_DAYS,
    },
    ...(travel && { travel }),
    fresh,
  }
}
