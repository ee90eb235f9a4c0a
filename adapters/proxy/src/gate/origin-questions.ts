import { type ChallengeLevel, SallyportError } from '@sallyport/core'
import { stepUpPolicy } from '@sallyport/node/internal'
import type { createDeciders, DecidingPart, Ruled } from './deciders.ts'

/** Decides about an origin's answer that requires a pass of a level, by the nearest routes; `undefined`: no client can be challenged. */
export type OriginQuestions = (level: ChallengeLevel, near: readonly Ruled[]) => DecidingPart | undefined

/**
 * Creates the deciders. Machines that share counts and no secret do not know each other's passes: then no origin can challenge, the client
 * gets the origin's answer, and one notice says so.
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
        `An origin requests challenges (sallyport-challenge: ${level}), but no client gets a challenge: ${error.message}.`,
      )
      return undefined
    }
  }
}
