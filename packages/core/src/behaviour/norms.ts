import { LRUCache } from 'lru-cache'

/** People do these things on a site; each is a bit. */
export const HABIT = {
  'keeps-loading': 1,
  loads: 2,
  returns: 4,
  refers: 8,
  caches: 16,
  finds: 32,
  'takes-turns': 64,
  pauses: 128,
  varies: 256,
} as const
export type Habit = keyof typeof HABIT
const HABITS = Object.keys(HABIT) as readonly Habit[]

/** The norms of a site hold once this many visits have proof of a person. */
const MIN_VISITS = 10
/** The absence of a habit is a sign where this share of people have it. */
const MOST = 0.8
/** Limits how many sites are known; the site without a visit for longest is forgotten. */
const MAX_SITES = 64
/** Limits the groups of visits that are alike, for each site. */
const MAX_GROUPS = 256
/** After this many visits, those before have half their count. */
const MANY = 400

/** Says whether the absence of a habit is a sign on a site, and which visits show that. */
export interface HabitState {
  readonly host: string
  readonly habit: Habit
  readonly isActive: boolean
  readonly visits: number
  readonly having: number
}

/** Holds what is known of a site, as the file has it between two runs. */
export interface KeptHabits {
  /** Names the site as its route does; '' has all other hosts. */
  readonly host: string
  readonly visits: number
  /** Counts the visits that show each habit, in the order of `HABIT`. */
  readonly having: readonly number[]
}

interface Site extends KeptHabits {
  /** Most people have these habits. */
  readonly common: number
  readonly groups: Set<number>
}

/** Knows the habits of people by site; visits with proof of a person teach it. */
export function createNorms(kept: readonly KeptHabits[] = []) {
  const sites = new LRUCache<string, Site>({ max: MAX_SITES })
  const put = (known: KeptHabits, groups: Set<number>): void => {
    const common = HABITS.reduce((bits, habit, place) => bits | (isCommon(known, place) ? HABIT[habit] : 0), 0)
    sites.set(known.host, { ...known, common, groups })
  }
  for (const known of kept) if (isOurs(known)) put(known, new Set())
  return {
    /** Learns which habits a visit shows. A `group` counts once; 0 means that the visit belongs to no group. */
    learn(host: string, habits: number, group: number): void {
      const { visits, having, groups } = sites.get(host) ?? {
        visits: 0,
        having: HABITS.map(() => 0),
        groups: new Set(),
      }
      if (group !== 0 && (groups.has(group) || groups.size >= MAX_GROUPS)) return
      const isMany = visits + 1 >= MANY
      const half = isMany ? 0.5 : 1
      const counted = having.map((count, place) => half * (count + ((habits >> place) & 1)))
      put({ host, visits: half * (visits + 1), having: counted }, isMany ? new Set() : groups)
      if (group !== 0 && !isMany) groups.add(group)
    },
    /** Returns the habits that most people have on a site. */
    find: (host: string): number => sites.get(host)?.common ?? 0,
    get kept(): readonly KeptHabits[] {
      return [...sites.values()].map(({ host, visits, having }) => ({ host, visits, having }))
    },
  }
}

/** Lists the habits of sites, and which of them are a sign by their absence. */
export function listHabits(sites: readonly KeptHabits[]): readonly HabitState[] {
  return sites.filter(isOurs).flatMap((site) =>
    HABITS.map((habit, place) => {
      const [visits, having] = [Math.round(site.visits), Math.round(site.having[place] as number)]
      return { host: site.host, habit, isActive: isCommon(site, place), visits, having }
    }),
  )
}

/** Another version has other habits, and learns them again. */
function isOurs({ having }: KeptHabits): boolean {
  return having.length === HABITS.length
}

function isCommon({ visits, having }: KeptHabits, place: number): boolean {
  return visits >= MIN_VISITS && (having[place] as number) >= MOST * visits
}
