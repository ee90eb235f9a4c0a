import * as features from '#features'

export const NAMED_FEATURES = Object.entries(features).map(([name, { feature }]) => ({ name, feature }))

export const FEATURES = NAMED_FEATURES.map(({ feature }) => feature)
