import type { CompiledPolicy } from '../policy/compile/compile-policy.ts'
import { evaluate } from '../policy/compile/evaluate.ts'
import { Asked } from '../policy/language/asked.ts'
import { type Mode, refuses } from '../vocabulary.ts'
import type { CrawlerInspection } from './hypothetical.ts'
import { type RobotsPath, robotsPathsOf } from './robots-paths.ts'

/** The policy below a path. */
export interface RobotsPart {
  /** With all below it; default `/`. The longest path counts. */
  readonly path?: string | undefined
  readonly policy: CompiledPolicy
  readonly mode: Mode
}

/** A request to a crawler on what not to fetch, in words of robots.txt. */
export interface RobotsRule {
  readonly allow: boolean
  readonly pattern: string
}

/** Says what of a site a crawler may fetch. */
export interface RobotsRules {
  /** The shortest list that says it; empty where it may fetch all. */
  of(crawler: CrawlerInspection): readonly RobotsRule[]
  /** Whether it may fetch a path. */
  mayFetch(crawler: CrawlerInspection, path: string): boolean
  /** The path patterns that the policies speak of. */
  readonly paths: readonly string[]
  /** Ids of rules that are not said, or not wholly: they ask about more than robots.txt can, or have a star within a segment. */
  readonly unspoken: readonly string[]
}

/**
 * Rules of robots.txt, found by asking the policy itself: of every path that it speaks of, whether it refuses the crawler
 * there. Rules that ask about more than the crawler, the path and the method are left out, as if they did not match.
 */
export function createRobotsRules(parts: readonly RobotsPart[]): RobotsRules {
  const known = parts.map(({ path = '/', policy, mode }) => {
    const rules = policy.rules.filter(({ announced }) => announced !== undefined)
    return { path: path.replace(/\/$/, ''), mode, policy: { rules, fallback: policy.fallback } }
  })
  const paths = [
    ...known.map(({ path }) => `${path}/**`),
    ...known.flatMap(({ policy }) => policy.rules.flatMap(({ announced = [] }) => announced)),
  ]
  const asked = distinct(paths.flatMap((path) => robotsPathsOf(path) ?? []))

  function mayFetch(crawler: CrawlerInspection, path: string): boolean {
    const { mode, policy } = nearest(known, path) ?? { mode: 'monitor', policy: undefined }
    // In monitor mode nobody is refused.
    if (mode === 'monitor' || policy === undefined) return true
    return !refuses(evaluate(policy, crawler(path), new Asked({})).decided.action)
  }

  return {
    mayFetch,
    paths,
    of(crawler) {
      const said: RobotsRule[] = []
      for (const { pattern, probe } of asked) {
        const allow = mayFetch(crawler, probe)
        if (allow !== (longestOf(said, pattern)?.allow ?? true)) said.push({ allow, pattern })
      }
      return said
    },
    unspoken: [...new Set(parts.filter(({ mode }) => mode === 'enforce').flatMap(({ policy }) => unspokenOf(policy)))],
  }
}

function unspokenOf({ rules }: CompiledPolicy): readonly string[] {
  const left = rules.filter(({ announced, matched, counting, onTrial }) => {
    if (onTrial || (counting !== undefined && !counting.opens)) return false
    return announced === undefined
      ? refuses(matched.action)
      : announced.some((path) => robotsPathsOf(path) === undefined)
  })
  return left.map(({ matched }) => matched.id)
}

/** Each once, the shorter before the longer. */
function distinct(paths: readonly RobotsPath[]): readonly RobotsPath[] {
  const byPattern = new Map(paths.map((path) => [path.pattern, path]))
  return [...byPattern.values()].toSorted((one, other) => one.pattern.length - other.pattern.length)
}

function nearest<T extends { readonly path: string }>(parts: readonly T[], asked: string): T | undefined {
  const fitting = parts.filter(({ path }) => asked === path || asked.startsWith(`${path}/`))
  return fitting.toSorted((one, other) => other.path.length - one.path.length)[0]
}

/** The rule that counts where a longer one has not been said yet. */
function longestOf(rules: readonly RobotsRule[], pattern: string): RobotsRule | undefined {
  return rules.findLast((rule) => !rule.pattern.endsWith('$') && pattern.startsWith(rule.pattern))
}
