import type { Feature } from '#service'
import { keys } from './keys.ts'

export { openRobots, openRobotsFile, type RobotsSource, type SiteRobots } from './site-robots.ts'

/** robots.txt as the policy has it and as rules read it. */
export const feature: Feature<typeof keys> = { keys, command: 'robots' }
