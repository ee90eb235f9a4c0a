import type { Feature } from '#service'
import { keys } from './keys.ts'

export type { TallyHours } from '#tally'
export { openTally, readHours, readPeriod, readTally, type TallyReports } from './report.ts'

/** Hourly counts of requests, for the report and the console. */
export const feature: Feature<typeof keys> = { keys, command: 'report' }
