import { type ChallengeLevel, SallyportError } from '@sallyport/core'
import { stepUpPolicy } from '@sallyport/node/internal'
import type { createDeciders, DecidingPart, Ruled } from './deciders.ts'

/**
 * Creates the function that decides about an origin's answer which requires a pass of a level, by the nearest routes. Machines that share
 * counts and no secret do not know each other's passes: then no origin can challenge, the function returns `undefined`, the client gets the
 * origin's answer, and one notice says so.
 */
export function createOriginQuestions(
  findDecider: ReturnType<typeof createDeciders>,
  onNotice: ((message: string) => void) | undefined,
) {
  const steps = { 1: stepUpPolicy({ level: 1 }), 2: stepUpPolicy({ level: 2 }), 3: stepUpPolicy({ level: 3 }) }
  let isUnable = false
  return (level: ChallengeLevel, near: readonly Ruled[]): DecidingPart | undefined => {
    if (isUnable) return undefined
    try {
      return findDecider([{ policy: steps[level] }, ...near])
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      isUnable = true
      onNotice?.(
        `An origin requests challenges (sallyport-challenge: ${level}), but no client gets a challenge: ${error.message}.`,
      )
      return undefined
    }
  }
}
