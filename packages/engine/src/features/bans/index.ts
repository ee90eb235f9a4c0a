import type { Feature } from '#service'
import { keys } from './keys.ts'

export { createServiceBans } from './service-bans.ts'

/** Bans for others to carry out. */
export const feature: Feature<typeof keys> = { keys, command: 'bans', page: 'bans.md' }
