import { time } from '#settings'

/** Keys of the hourly counts. */
export const keys = {
  tally: time(
    '30d',
    ['0ms', '365d'],
    'Time that hourly counts are kept in dataDir, for report and console; 0ms: nothing is counted',
    '7d',
  ),
}
