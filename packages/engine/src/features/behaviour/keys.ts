import { z } from 'zod'
import type { FeatureConfig } from '#service'
import { key, LIVE } from '#settings'

/** The key that switches off what visitors do as evidence. */
export const keys = {
  behaviour: key(
    z.boolean().default(true),
    'Whether behaviour during a visit (pages, assets, returned cookies) counts as evidence',
    false,
    LIVE,
  ),
}

export type BehaviourConfig = FeatureConfig<typeof keys>
