import { type ChallengeLevel, type Mode, type MountPolicy, SallyportError } from '@sallyport/core'
import type { Decider } from '@sallyport/node'
import { stepUpPolicy } from '@sallyport/node/internal'

/** Decides about requests of one part of a site. */
export type DecidingPart = Pick<Decider, 'decide' | 'readsCalls' | 'opening'>

/** Rules that a part of a site sets; absent: the rules of the next part around it. */
export interface Ruled {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/**
 * Creates the function that finds the decider for the nearest policy and the nearest mode of some routes, of which the nearest comes first.
 * Each pair is compiled once. The function throws `invalid_config` and `invalid_policy`, with `key` where it is given.
 */
export function createDeciders(make: Decider['decider'], all: DecidingPart) {
  const known = new Map<MountPolicy | undefined, Map<Mode | undefined, DecidingPart>>()

  return (near: readonly Ruled[], key?: string): DecidingPart => {
    const policy = near.find((route) => route.policy !== undefined)?.policy
    const mode = near.find((route) => route.mode !== undefined)?.mode
    if (policy === undefined && mode === undefined) return all
    const made = known.get(policy)?.get(mode)
    if (made !== undefined) return made
    if (make === undefined) throw new SallyportError('invalid_config', `${key}: this host supports only one policy`)
    const decider = make({ policy, mode })
    known.set(policy, (known.get(policy) ?? new Map()).set(mode, decider))
    return decider
  }
}

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
