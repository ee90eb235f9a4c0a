import { type Mode, type MountPolicy, SallyportError } from '@sallyport/core'
import type { Decider } from '@sallyport/node'

/** Decides about requests of one part of a site. */
export type DecidingPart = Pick<Decider, 'decide' | 'readsCalls' | 'opening'>

/** Rules that a part of a site sets; absent: the rules of the next part around it. */
export interface Ruled {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** Finds the decider for the nearest policy and the nearest mode, which two routes may set; each pair is compiled once. */
export function createDeciders(make: Decider['decider'], all: DecidingPart) {
  const known = new Map<MountPolicy | undefined, Map<Mode | undefined, DecidingPart>>()

  return {
    /** Chooses by routes, of which the nearest comes first. Throws `invalid_config` and `invalid_policy`, with `key` where it is given. */
    of(near: readonly Ruled[], key?: string): DecidingPart {
      const policy = near.find((route) => route.policy !== undefined)?.policy
      const mode = near.find((route) => route.mode !== undefined)?.mode
      if (policy === undefined && mode === undefined) return all
      const made = known.get(policy)?.get(mode)
      if (made !== undefined) return made
      if (make === undefined) throw new SallyportError('invalid_config', `${key}: this host supports only one policy`)
      const decider = make({ policy, mode })
      known.set(policy, (known.get(policy) ?? new Map()).set(mode, decider))
      return decider
    },
  }
}
