import { type ChallengeLevel, SallyportError } from '@sallyport/core'
import { stepUpPolicy } from '@sallyport/node/internal'
import type { createDeciders, DecidingPart, Ruled } from './deciders.ts'

/** Decides whom an answer of an origin asks for a pass of a level, by the nearest routes; `undefined`: nobody can be asked. */
export type OriginQuestions = (level: ChallengeLevel, near: readonly Ruled[]) => DecidingPart | undefined

/**
 * Machines that share counts and no secret would not know each other's passes: an origin asks nobody then, its answer is for
 * the client, and that is said once.
 */
export function createOriginQuestions(
  deciders: ReturnType<typeof createDeciders>,
  onNotice: ((message: string) => void) | undefined,
): OriginQuestions {
  const steps = { 1: stepUpPolicy({ level: 1 }), 2: stepUpPolicy({ level: 2 }), 3: stepUpPolicy({ level: 3 }) }
  let isUnable = false
  return (level, near) => {
    if (isUnable) return undefined
    try {
      return deciders.of([{ policy: steps[level] }, ...near])
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      isUnable = true
      onNotice?.(
        `An origin asks for a challenge (sallyport-challenge: ${level}), and no client is challenged: ${error.message}.`,
      )
      return undefined
    }
  }
}
