import type { Feature } from '#service'

export { type Erasure, eraseKnown, exportKnown, type Known } from './privacy.ts'

/** Knowledge of one address in every store and log, and its erasure. */
export const feature: Feature<Record<never, never>> = { keys: {}, command: 'privacy' }
