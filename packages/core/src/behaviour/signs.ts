import { BEHAVIOUR_SIGNS, type BehaviourSignId } from '../agent/behaviour-signs.ts'
import { HABIT } from './norms.ts'
import { CELL, FLAG, type Records, SKETCH, WORD } from './records.ts'

/** A sign of `agent/behaviour-signs.ts` is silent on a site unless most people have all these habits there. */
interface VisitSign {
  readonly habits: number
  /** Several people behind one address show the sign together, so it is silent for them. */
  readonly ofOne?: true
  /** `bare` counts the pages since the last file. */
  readonly shows: (records: Records, row: number, bare: number) => boolean
}

const SIGNS: Readonly<Record<BehaviourSignId, VisitSign>> = {
  'pages-without-files': { habits: HABIT['keeps-loading'], shows: (_records, _row, bare) => bare >= 10 },
  'long-without-files': { habits: HABIT['keeps-loading'], shows: (_records, _row, bare) => bare >= 20 },
  'first-visit-without-files': {
    habits: HABIT.loads | HABIT.returns,
    shows: (records, row, bare) => bare >= 10 && records.get(row, CELL.files) === 0 && records.has(row, FLAG.bare),
  },
  'cookies-never-returned': {
    habits: HABIT.returns,
    shows: (records, row) => records.get(row, CELL.unreturned) >= 5 && !records.has(row, FLAG.returned),
  },
  'referrers-never-fit': { habits: HABIT.refers, shows: (records, row) => records.get(row, CELL.referred) === 0 },
  'reloads-files': {
    habits: HABIT.caches,
    shows: (records, row) => records.get(row, CELL.whole) >= 30 && repeatsFiles(records, row) >= 3,
  },
  breadth: {
    habits: 0,
    ofOne: true,
    shows(records, row) {
      const sketched = records.get(row, CELL.sketched)
      return sketched >= 60 && countPages(records, row) >= 0.85 * sketched
    },
  },
  relentless: {
    habits: HABIT.pauses,
    ofOne: true,
    shows: (records, row) => records.get(row, CELL.gaps) >= 50 && records.get(row, CELL.gapMean) < 3,
  },
  'even-gaps': {
    habits: HABIT.varies,
    ofOne: true,
    shows: (records, row) => records.get(row, CELL.gaps) >= 25 && computeVariation(records, row) < 0.35,
  },
  'parallel-pages': {
    habits: HABIT['takes-turns'],
    ofOne: true,
    shows: (records, row) => records.word(row, WORD.parallel) >= 0.8 * records.get(row, CELL.pages),
  },
  'guesses-addresses': {
    habits: HABIT.finds,
    ofOne: true,
    shows: (records, row) => records.word(row, WORD.missing) >= 20 && computeMissing(records, row) >= 0.5,
  },
  'returns-cookies': { habits: 0, shows: (records, row) => records.has(row, FLAG.returned) },
  'referrers-fit': {
    habits: 0,
    shows: (records, row) => records.get(row, CELL.referred) >= records.get(row, CELL.pages) / 4,
  },
  revalidates: { habits: 0, shows: (records, row) => records.has(row, FLAG.conditional) },
}

/** A sign has the bit of its place in the table of evidence. */
const PLACED = BEHAVIOUR_SIGNS.map(({ id, pages }) => ({ pages, ...SIGNS[id] }))

/** From this number on, people behind one address cannot be told apart: each begins without a cookie. */
const SEVERAL = 2

/** Reads the bits of the signs that a visit shows, where people of the site have these habits. */
export function readSigns(records: Records, row: number, bare: number, habits: number): number {
  const pages = records.get(row, CELL.pages)
  const isSeveral = records.get(row, CELL.fresh) >= SEVERAL
  let bits = 0
  for (let place = 0; place < PLACED.length; place++) {
    const sign = PLACED[place] as (typeof PLACED)[number]
    if (pages < sign.pages || (sign.habits & ~habits) !== 0 || (isSeveral && sign.ofOne)) continue
    if (sign.shows(records, row, bare)) bits |= 1 << place
  }
  return bits
}

/** A run of pages without files counts only after this time, in milliseconds: tabs that are opened together load their files together. */
const RUN_MS = 1_500

/** Counts the pages since the last file, where they took long enough for files to load. */
export function readBare(records: Records, row: number, now: number): number {
  return now - records.get(row, CELL.run) >= RUN_MS ? records.get(row, CELL.sinceFile) : 0
}

/** Estimates how many different pages were read. */
export function countPages(records: Records, row: number): number {
  return Math.min(records.countDifferent(row, SKETCH.pages), records.get(row, CELL.sketched))
}

/** Estimates how often each file was loaded whole. */
function repeatsFiles(records: Records, row: number): number {
  const whole = records.get(row, CELL.whole)
  return whole === 0 ? 0 : whole / records.countDifferent(row, SKETCH.files)
}

/** Returns the standard deviation of the gaps between pages as a part of their mean. */
function computeVariation(records: Records, row: number): number {
  return Math.sqrt(records.get(row, CELL.gapVariance)) / records.get(row, CELL.gapMean)
}

/** Returns which part of the requests for pages and files was for what the site does not have, from 0 to 1. */
function computeMissing(records: Records, row: number): number {
  const missing = records.word(row, WORD.missing)
  return missing / (missing + records.get(row, CELL.pages) + records.get(row, CELL.files))
}

/** Reads the habits that a visit of eight pages or more shows. */
export function readHabits(records: Records, row: number): number {
  let habits = 0
  if (records.get(row, CELL.sinceFile) <= records.get(row, CELL.pages) / 2) habits |= HABIT['keeps-loading']
  if (records.get(row, CELL.files) > 0) habits |= HABIT.loads
  if (records.has(row, FLAG.returned)) habits |= HABIT.returns
  if (records.get(row, CELL.referred) >= 2) habits |= HABIT.refers
  if (records.get(row, CELL.whole) < 10 || repeatsFiles(records, row) < 2) habits |= HABIT.caches
  if (computeMissing(records, row) < 0.2) habits |= HABIT.finds
  // A page may load others, as fragments, or again and again.
  if (records.word(row, WORD.parallel) < 0.4 * records.get(row, CELL.pages)) habits |= HABIT['takes-turns']
  if (records.get(row, CELL.gapMean) >= 3) habits |= HABIT.pauses
  if (computeVariation(records, row) >= 0.2) habits |= HABIT.varies
  return habits
}

/** A client's group counts only after these pages of its own, so a new client is never refused for what others did. */
const OWN_PAGES = 5

/** Members of a group share what they lack, besides their connection and headers: bits of a hash. */
export const LACKS = { files: 1, cookies: 2, referrers: 4 } as const

/** Returns what a visit lacks; nothing before its fifth page. */
export function readLacks(records: Records, row: number, bare: number): number {
  if (records.get(row, CELL.pages) < OWN_PAGES) return 0
  let lacks = 0
  if (bare >= OWN_PAGES) lacks |= LACKS.files
  if (records.get(row, CELL.unreturned) >= 3 && !records.has(row, FLAG.returned)) lacks |= LACKS.cookies
  if (records.get(row, CELL.referred) === 0) lacks |= LACKS.referrers
  return lacks
}

/** Names the group of a visit by what it lacks, its connection and its headers; 0 where it lacks nothing. */
export function nameGroup(records: Records, row: number, lacks: number): number {
  if (lacks === 0) return 0
  return (Math.imul(records.word(row, WORD.wire) ^ (lacks * 0x9e3779b1), 0x85ebca6b) | 1) >>> 0
}
