import { extents } from './extent.ts'
import { compileSegment } from './path-pattern.ts'
import { foldCase } from './path-readings.ts'
import { segmentsOf } from './split-path.ts'

/** A path pattern, ready to be held against others. */
interface PreparedPath {
  readonly exact: PreparedSegments
  readonly folded: PreparedSegments
  readonly below: boolean
  /** A trailing slash counts in a rule that allows. */
  readonly slashed: boolean
  readonly starred: boolean
}

interface PreparedSegments {
  readonly texts: readonly string[]
  readonly tests: readonly ((segment: string) => boolean)[]
}

/** Paths of rules, by their patterns. */
export const OF_PATHS = extents<readonly string[], readonly PreparedPath[]>({
  prepare: (patterns) => patterns.map(preparePath),
  within: (inner, outer, exact) => inner.every((one) => outer.some((other) => isWithin(one, other, exact))),
  apart: (ones, others) => ones.every((one) => others.every((other) => isApart(one, other))),
})

function preparePath(pattern: string): PreparedPath {
  const below = pattern.endsWith('/**')
  const stem = below ? pattern.slice(0, -3) : pattern
  const slashed = !below && stem.endsWith('/')
  return { exact: segments(stem), folded: segments(foldCase(stem)), below, slashed, starred: stem.includes('*') }
}

function segments(stem: string): PreparedSegments {
  const texts = segmentsOf(stem)
  return { texts, tests: texts.map(compileSegment) }
}

/** A star of the inner one stands for any letter: only a star takes it in, and the text of a pattern has no other. */
function isWithin(inner: PreparedPath, outer: PreparedPath, exact: boolean): boolean {
  const [own, wanted] = exact ? [inner.exact, outer.exact] : [inner.folded, outer.folded]
  // A reading with empty segments is one of a pattern with stars, and of no other.
  if (exact && inner.starred && !outer.starred) return false
  if (outer.below ? own.texts.length < wanted.texts.length : inner.below || own.texts.length !== wanted.texts.length)
    return false
  if (exact && !outer.below && inner.slashed !== outer.slashed) return false
  return wanted.tests.every((test, at) => test(own.texts[at] as string))
}

/** Whether no path is of both: one is another's nowhere, and no star leaves it open. */
function isApart(one: PreparedPath, other: PreparedPath): boolean {
  const length = Math.min(one.folded.texts.length, other.folded.texts.length)
  for (let at = 0; at < length; at++) {
    const [own, wanted] = [one.folded.texts[at] as string, other.folded.texts[at] as string]
    if (own !== wanted && !own.includes('*') && !wanted.includes('*')) return true
  }
  const isLonger = (long: PreparedPath, short: PreparedPath) =>
    long.folded.texts.length > short.folded.texts.length && !short.below
  return isLonger(one, other) || isLonger(other, one)
}
