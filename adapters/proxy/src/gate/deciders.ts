import { type Mode, type MountPolicy, SallyportError } from '@sallyport/core'
import type { Decider } from '@sallyport/node'

/** A decider about requests of one part of a site. */
export type DecidingPart = Pick<Decider, 'decide'>

/** The rules of a part of a site; absent: those of the next one around it. */
export interface Ruled {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** Finds what decides by the nearest policy and the nearest mode, which may be those of two routes; each pair is compiled once. */
export function createDeciders(make: Decider['decider'], all: DecidingPart) {
  const known = new Map<MountPolicy | undefined, Map<Mode | undefined, DecidingPart>>()

  return {
    /** By routes of which the nearest is the first. Throws `invalid_config` and `invalid_policy`, with `key` where one is named. */
    of(near: readonly Ruled[], key?: string): DecidingPart {
      const policy = near.find((route) => route.policy !== undefined)?.policy
      const mode = near.find((route) => route.mode !== undefined)?.mode
      if (policy === undefined && mode === undefined) return all
      const made = known.get(policy)?.get(mode)
      if (made !== undefined) return made
      if (make === undefined) throw new SallyportError('invalid_config', `${key}: there is no policy but one here`)
      const decider = make({ policy, mode })
      known.set(policy, (known.get(policy) ?? new Map()).set(mode, decider))
      return decider
    },
  }
}
