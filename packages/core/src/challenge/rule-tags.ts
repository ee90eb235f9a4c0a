import { createHash } from 'node:crypto'
import { STRIKES_RULE } from '../counting/strikes.ts'

/**
 * Writes names of rules as numbers, so that a challenge tells only us which rule challenged. `rules` lists ids of the rules that another
 * process may challenge by, beside bans.
 */
export function createRuleTags(rules: () => Iterable<string> = () => []) {
  const tags = new Map<string, number>()
  const known = new Map<number, string>()

  function makeTag(rule: string): number {
    let tag = tags.get(rule)
    if (tag === undefined) {
      tag = createHash('sha256').update(rule).digest().readUInt32BE()
      tags.set(rule, tag)
      known.set(tag, rule)
    }
    return tag
  }

  return {
    makeTag,
    /** Returns `undefined` where no process of this policy has the rule any more. */
    findRule(tag: number): string | undefined {
      if (!known.has(tag)) for (const rule of [STRIKES_RULE, ...rules()]) makeTag(rule)
      return known.get(tag)
    },
  }
}
