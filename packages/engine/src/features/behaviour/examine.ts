import { type HabitState, listHabits } from '@sallyport/core'
import { type CheckResult, ok, warn } from '#service'
import type { Settings } from '#settings'
import { habitsFile, readKeptHabits } from './habits-file.ts'
import type { BehaviourConfig } from './keys.ts'

/** What people do, in words, by the habit. */
const WORDS: Readonly<Record<HabitState['habit'], string>> = {
  'keeps-loading': 'load files with later pages',
  loads: 'load files of the site',
  returns: 'return cookies',
  refers: 'follow links',
  caches: 'keep files in their cache',
  finds: 'request what exists',
  'takes-turns': 'request one page at a time',
  pauses: 'pause between pages',
  varies: 'vary these pauses',
}

/** Says whether the absence of a habit is a sign, and why: `people load files with later pages (38 of 40 visits): signs speak`. */
export function habitText({ host, habit, isActive, visits, having }: HabitState): string {
  const where = host === '' ? '' : `${host}: `
  const why = visits < 10 ? `${visits} of 10 visits that prove a person` : `${having} of ${visits} visits`
  return `${where}people ${WORDS[habit]} (${why}): its absence ${isActive ? 'is a sign' : 'is not a sign'}`
}

/** Shows which signs of behaviour speak on each site, as the service last wrote it. */
export async function examineBehaviour(config: BehaviourConfig & Partial<Settings>): Promise<readonly CheckResult[]> {
  const { behaviour, forwardAuth = false, upstream, dataDir } = config
  if (!behaviour) return [ok('Behaviour is not recorded, because behaviour is false.')]
  if (forwardAuth !== false && upstream === undefined) {
    const found = 'Behaviour signs are inactive, because forward auth hides responses.'
    return [warn(found, "Use Sallyport's proxy or an adapter.", ['forwardAuth'])]
  }
  const states = dataDir === undefined ? [] : listHabits(readKeptHabits(habitsFile(dataDir)))
  if (states.length === 0) return [ok('Behaviour signs are inactive until ten visits prove a person.')]
  return states.map((state) => ok(`${habitText(state)}.`))
}
