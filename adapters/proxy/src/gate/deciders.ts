import { type Mode, type MountPolicy, SallyportError } from '@sallyport/core'
import type { Decider } from '@sallyport/node'

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
