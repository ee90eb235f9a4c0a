import type { CompiledPolicy } from '../policy/compile/compile-policy.ts'
import { evaluate } from '../policy/compile/evaluate.ts'
import { Asked } from '../policy/language/asked.ts'
import { type Mode, refuses } from '../vocabulary.ts'
import type { CrawlerInspection } from './hypothetical.ts'
import type { PathRule } from './path-rules.ts'
import { listRobotsPaths, type RobotsPath } from './robots-paths.ts'

/** A part of the site has its own policy below a path. */
export interface RobotsPart {
  /** The part includes all paths below; default `/`. The longest path counts. */
  readonly path?: string | undefined
  readonly policy: CompiledPolicy
  readonly mode: Mode
}

/**
 * Finds rules of robots.txt by evaluating the policy itself: for every path that it names, whether it refuses the crawler there. Rules that
 * read more than the crawler, the path and the method are left out, as if they did not match.
 */
export function createRobotsRules(parts: readonly RobotsPart[]) {
  const known = parts.map(({ path = '/', policy, mode }) => {
    const rules = policy.rules.filter(({ announced }) => announced !== undefined)
    return { path: path.replace(/\/$/, ''), mode, policy: { rules, fallback: policy.fallback } }
  })
  const paths = [
    ...known.map(({ path }) => `${path}/**`),
    ...known.flatMap(({ policy }) => policy.rules.flatMap(({ announced = [] }) => announced)),
  ]
  const probes = dedupe(paths.flatMap((path) => listRobotsPaths(path) ?? []))

  function mayFetch(crawler: CrawlerInspection, path: string): boolean {
    const { mode, policy } = nearest(known, path) ?? { mode: 'monitor', policy: undefined }
    // Monitor mode refuses no request.
    if (mode === 'monitor' || policy === undefined) return true
    const { action } = evaluate(policy, crawler(path), new Asked({})).decided
    // A crawler that pays is let in: it must send a request to learn the price.
    return action === 'offer' || !refuses(action)
  }

  return {
    /** Returns the shortest list of rules; empty where the crawler may fetch all. */
    of(crawler: CrawlerInspection): readonly PathRule[] {
      const list: PathRule[] = []
      for (const { pattern, probe } of probes) {
        const allow = mayFetch(crawler, probe)
        if (allow !== (findLongest(list, pattern)?.allow ?? true)) list.push({ allow, pattern })
      }
      return list
    },
    /** Ids of rules that are left out, wholly or in part: they read more than robots.txt can express, or have a star within a segment. */
    unspoken: [
      ...new Set(parts.filter(({ mode }) => mode === 'enforce').flatMap(({ policy }) => listUnspoken(policy))),
    ],
  }
}

function listUnspoken({ rules }: CompiledPolicy): readonly string[] {
  const left = rules.filter(({ announced, matched, counting, onTrial }) => {
    if (onTrial || (counting !== undefined && !counting.opens)) return false
    return announced === undefined
      ? matched.action !== 'offer' && refuses(matched.action)
      : announced.some((path) => listRobotsPaths(path) === undefined)
  })
  return left.map(({ matched }) => matched.id)
}

/** Keeps each path once, the shorter before the longer. */
function dedupe(paths: readonly RobotsPath[]): readonly RobotsPath[] {
  const byPattern = new Map(paths.map((path) => [path.pattern, path]))
  return [...byPattern.values()].toSorted((one, other) => one.pattern.length - other.pattern.length)
}

function nearest<T extends { readonly path: string }>(parts: readonly T[], asked: string): T | undefined {
  const fitting = parts.filter(({ path }) => asked === path || asked.startsWith(`${path}/`))
  return fitting.toSorted((one, other) => other.path.length - one.path.length)[0]
}

/** Returns the rule that counts while no longer one is listed. */
function findLongest(rules: readonly PathRule[], pattern: string): PathRule | undefined {
  return rules.findLast((rule) => !rule.pattern.endsWith('$') && pattern.startsWith(rule.pattern))
}
