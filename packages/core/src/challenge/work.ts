import { hash } from 'node:crypto'
import type { ChallengeLevel } from '../values/challenge.ts'
import type { OpenedChallenge } from './token.ts'

/** A level requires this work, or waiting in its place. */
export interface Work {
  readonly puzzles: number
  readonly bits: number
  /** The wait is in seconds. */
  readonly wait: number
}

/**
 * Many small puzzles vary less than a hard one: the unlucky hundredth takes 4.6 times the mean for one hard puzzle, 1.45 times for 32 small
 * ones. 33,000 hashes take a sixth of a second on a middling phone, and leave time for two pages within five seconds on a slow one.
 */
export const WORK: Readonly<Record<ChallengeLevel, Work>> = {
  1: { puzzles: 0, bits: 0, wait: 1 },
  2: { puzzles: 32, bits: 10, wait: 8 },
  3: { puzzles: 32, bits: 12, wait: 32 },
}

/** A provider's challenge has no work and no wait of ours; each of our own has at least one of them. */
export const WIDGET_WORK: Work = { puzzles: 0, bits: 0, wait: 0 }

export function isOfWidget({ puzzles, wait }: Pick<Work, 'puzzles' | 'wait'>): boolean {
  return puzzles === 0 && wait === 0
}

/** Limits the characters of a solution's numbers. */
const MAX_NUMBERS = 2_048

const NUMBERS = /^\d{1,10}(?:,\d{1,10}){0,63}$/

/** Reports whether a text has the form of the numbers that solve puzzles. */
export function areNumbers(text: string): boolean {
  return text.length <= MAX_NUMBERS && NUMBERS.test(text)
}

const SEED = 32

/**
 * Reports whether numbers solve a challenge: the SHA-256 of its seed, the puzzle's place and its number, each of 32 bits, big end first,
 * begins with so many zero bits. Each puzzle costs a hash, up to the first wrong one.
 */
export function isSolved({ seed, puzzles, bits }: OpenedChallenge, numbers: readonly number[]): boolean {
  if (numbers.length !== puzzles || puzzles === 0) return false
  const block = Buffer.alloc(SEED + 8)
  block.set(seed)
  return numbers.every((number, place) => {
    if (!Number.isInteger(number) || number < 0 || number > 0xffffffff) return false
    block.writeUInt32BE(place, SEED)
    block.writeUInt32BE(number, SEED + 4)
    return Number.parseInt(hash('sha256', block).slice(0, 8), 16) >>> (32 - bits) === 0
  })
}
