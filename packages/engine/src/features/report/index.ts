import type { Feature } from '#service'
import { keys } from './keys.ts'

export type { TallyHours } from '#tally'
export { openTally, readHours, readPeriod, readTally, type TallyReports } from './report.ts'

/** Counts requests by the hour, for the report and the console. */
export const feature: Feature<typeof keys> = { keys, command: 'report' }
