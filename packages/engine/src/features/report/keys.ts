import { time } from '#settings'

export const keys = {
  tally: time('30d', ['0ms', '365d'], 'Retention of hourly counts for report and console; 0ms: no counts', '7d'),
}
