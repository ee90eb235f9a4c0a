import { earnedPass, failedPass } from '@sallyport/core'
import type { LogLine } from './line.ts'

/** The questions of one rule, and what came of them. */
export interface ReportedChallenges {
  readonly rule: string
  /** Pages with a new question. */
  readonly asked: number
  /** Answers that earned a pass. */
  readonly solved: number
  /** Answers that earned none, by cause. */
  readonly failed: Readonly<Record<string, number>>
  /** Questions that earned no pass, among them those that are younger than the five minutes for an answer. */
  readonly left: number
  /** Requests that could be shown no question: of programs, and of forms. */
  readonly unshown: number
  /** Most of those who came without a pass and were shown a question solved it, so people are asked here. */
  readonly mostSolve: boolean
}

interface Sums {
  asked: number
  solved: number
  unshown: number
  readonly failed: Record<string, number>
  /** Questions to visitors without a pass, and their answers: who has used up the budget of a pass is not doubted. */
  newcomers: number
  newcomersSolved: number
}

/** Fewer questions say nothing of a rule. */
const LEAST_QUESTIONS = 10
const MAX_RULES = 1_000

/** Sums up what came of questions, in memory that is bounded whatever lines hold. */
export function createChallengeSums(): { add(line: LogLine): void; result(): readonly ReportedChallenges[] } {
  const rules = new Map<string, Sums>()

  function sumsOf(rule: string): Sums | undefined {
    const known = rules.get(rule)
    if (known !== undefined || rules.size >= MAX_RULES) return known
    const begun = { asked: 0, solved: 0, unshown: 0, failed: {}, newcomers: 0, newcomersSolved: 0 }
    rules.set(rule, begun)
    return begun
  }

  return {
    add({ challenge, challengeRule: rule = '', passLevel }) {
      const sums = challenge === undefined ? undefined : sumsOf(rule)
      if (challenge === undefined || sums === undefined) return
      const isNewcomer = passLevel === undefined
      if (challenge === 'asked') {
        sums.asked++
        if (isNewcomer) sums.newcomers++
      } else if (earnedPass(challenge)) {
        sums.solved++
        if (isNewcomer) sums.newcomersSolved++
      } else if (failedPass(challenge)) sums.failed[challenge] = (sums.failed[challenge] ?? 0) + 1
      else if (challenge !== 'waiting') sums.unshown++
    },
    result: () =>
      [...rules]
        .map(([rule, { asked, solved, unshown, failed, newcomers, newcomersSolved }]) => ({
          rule,
          asked,
          solved,
          failed,
          left: Math.max(0, asked - solved),
          unshown,
          mostSolve: newcomers >= LEAST_QUESTIONS && newcomersSolved * 2 > newcomers,
        }))
        .sort((x, y) => y.asked - x.asked || (x.rule < y.rule ? -1 : 1)),
  }
}
