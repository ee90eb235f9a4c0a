import type { Action, NetworkClass } from '../vocabulary.ts'

/** What a rule looks at. Members are joined by "and", the values of one member by "or"; an absent member matches all. */
export interface Match {
  readonly networkClass?: readonly NetworkClass[] | undefined
  /** Two-letter codes of the country the client's address is used in. */
  readonly country?: readonly string[] | undefined
  readonly asn?: readonly number[] | undefined
  /** Paths: `/login` is that path alone, `/admin/**` it and all below, `*` within a segment any characters. */
  readonly path?: readonly string[] | undefined
  readonly method?: readonly string[] | undefined
}

/** One line of a policy: the first whose match holds decides. */
export interface Rule {
  readonly id: string
  readonly match: Match
  readonly action: Action
}

/** A policy as written: the user's rules come first, then those of the preset, then its default. */
export interface Policy {
  readonly preset: PresetName
  readonly rules: readonly Rule[]
}

export const PRESET_NAMES = ['observe', 'low-friction'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

const ANONYMISERS: readonly NetworkClass[] = ['vpn', 'residential_proxy', 'tor']
const INFRASTRUCTURE: readonly NetworkClass[] = ['hosting', 'datacenter']

/** Rules behind the user's own. What no rule of a preset names is allowed. */
export const PRESETS: Readonly<Record<PresetName, readonly Rule[]>> = {
  observe: [],
  'low-friction': [
    { id: 'anonymised', match: { networkClass: ANONYMISERS }, action: 'flag' },
    { id: 'infrastructure', match: { networkClass: INFRASTRUCTURE }, action: 'flag' },
  ],
}
