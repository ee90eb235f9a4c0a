import { compileGlob, type TextTest } from '../policy/language/glob.ts'

/** A line of a robots.txt has its escapes in one spelling. */
export interface PathRule {
  readonly allow: boolean
  readonly pattern: string
}

/** A rule is about a path: the longest rule counts, and of equally long ones a rule that allows. */
export interface Verdict {
  readonly allow: boolean
  readonly length: number
}

export type PathRules = ReturnType<typeof compilePathRules>

type Glob = Verdict & { readonly test: TextTest }

/**
 * Finds prefixes by bisection and whole paths by their hash; tests patterns with a star within one after the other, the longest first, and
 * only while a match would count.
 */
export function compilePathRules(rules: readonly PathRule[]) {
  const prefixes = new Map<string, Verdict>()
  const wholes = new Map<string, Verdict>()
  const patterns = new Map<string, Verdict>()
  for (const { allow, pattern } of rules) {
    const verdict = { allow, length: pattern.length }
    const ends = pattern.endsWith('$')
    const stem = ends ? pattern.slice(0, -1) : pattern
    const open = !ends || stem.endsWith('*')
    const text = withoutStars(stem)
    if (text.includes('*')) keep(patterns, open ? `${text}*` : stem, verdict)
    else keep(open ? prefixes : wholes, text, verdict)
  }
  const longest = longestPrefix(prefixes)
  const globs = [...patterns]
    .map(([glob, verdict]): Glob => Object.assign({ test: compileGlob(glob.replaceAll('\\', '\\\\')) }, verdict))
    .sort(byRank)
  return {
    /** Counts the rules with a star within: each costs a step of its own. */
    globs: globs.length,
    /** Returns the verdict on a path. It calls `onStep` for each text and each pattern that it compares with the path. */
    on(path: string, onStep?: () => void): Verdict | undefined {
      onStep?.()
      const best = higher(wholes.get(path), longest(path, onStep))
      for (const glob of globs) {
        if (best !== undefined && byRank(glob, best) >= 0) return best
        onStep?.()
        if (glob.test(path)) return glob
      }
      return best
    },
  }
}

/** Returns the verdict that counts of two. */
export function higher(one: Verdict | undefined, other: Verdict | undefined): Verdict | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return byRank(one, other) <= 0 ? one : other
}

function byRank(one: Verdict, other: Verdict): number {
  return other.length - one.length || Number(other.allow) - Number(one.allow)
}

/** Trailing stars have no effect on matches, but they count in the length. */
function withoutStars(stem: string): string {
  let end = stem.length
  while (stem.charAt(end - 1) === '*') end--
  return stem.slice(0, end)
}

function keep(verdicts: Map<string, Verdict>, text: string, verdict: Verdict): void {
  verdicts.set(text, higher(verdicts.get(text), verdict) as Verdict)
}

/** Finds the verdict that counts of all prefixes of a path. */
function longestPrefix(prefixes: ReadonlyMap<string, Verdict>) {
  const texts = [...prefixes.keys()].sort((one, other) => (one < other ? -1 : 1))
  // The prefixes of a text lie before it, each within the one before: a path has no prefixes but those of the text just before it.
  const outer: number[] = []
  const best: Verdict[] = []
  for (const [at, text] of texts.entries()) {
    let before = at - 1
    while (before !== -1 && !text.startsWith(texts[before] as string)) before = outer[before] as number
    outer.push(before)
    best.push(higher(prefixes.get(text), best[before]) as Verdict)
  }
  return (path: string, onStep?: () => void): Verdict | undefined => {
    let low = 0
    let high = texts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      onStep?.()
      if ((texts[middle] as string) <= path) low = middle + 1
      else high = middle
    }
    let at = low - 1
    const common = at === -1 ? 0 : commonLength(texts[at] as string, path)
    while (at !== -1 && (texts[at] as string).length > common) {
      onStep?.()
      at = outer[at] as number
    }
    return best[at]
  }
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length
}
