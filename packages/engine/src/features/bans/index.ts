import type { Feature } from '#service'

export { createServiceBans } from './service-bans.ts'

/** Bans for others to carry out. */
export const feature: Feature<Record<never, never>> = { keys: {}, command: 'bans' }
