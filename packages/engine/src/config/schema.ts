import { z } from 'zod'
import { Settings } from '#settings'
import { FEATURES } from './features.ts'

type Keys<Feature> = Feature extends { readonly keys: infer Own } ? (own: Own) => void : never
type FeatureKeys = Keys<(typeof FEATURES)[number]> extends (own: infer All) => void ? All : never

const OfFeatures = Object.assign({}, ...FEATURES.map(({ keys }) => keys)) as FeatureKeys

/**
 * The configuration of one Sallyport, as written in `sallyport.yaml` or given to `open()`. Every key has a default,
 * so `{}` is a whole configuration; a key that is not here is an error that names it. What a key means is its
 * description, which editors show.
 */
export const Config = z.strictObject({ ...Settings.shape, ...OfFeatures })

/** A configuration with every default filled in. */
export type Config = z.output<typeof Config>

/** A configuration as a person writes it. */
export type ConfigInput = z.input<typeof Config>
