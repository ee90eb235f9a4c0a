import { attempt } from '../../attempt.ts'

/** Spans hours of days: from `from` up to `to`, which may be the next morning; without both, all day. */
export interface TimeSpan {
  /** Both are written as `HH:MM`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Names days from `mon` to `sun`; a span over midnight belongs to the day it begins on. Default every day. */
  readonly days?: readonly string[] | undefined
  /** Zones have IANA names; default UTC. */
  readonly zone?: string | undefined
}

export const DAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/
const MINUTES_OF_DAY = 24 * 60

/** Reports whether a moment (ISO 8601, UTC) is within the span. */
export type SpanTest = (at: string) => boolean

/** Compiles a span, or returns the name of its first invalid member. `openClock` opens clocks that several spans share. */
export function compileSpan(
  { from = '00:00', to, days, zone = 'UTC' }: TimeSpan,
  openClock = zoneClock,
): SpanTest | keyof TimeSpan {
  const start = parseMinute(from)
  const end = to === undefined ? MINUTES_OF_DAY : parseMinute(to)
  if (start === undefined) return 'from'
  if (end === undefined) return 'to'
  if (days?.some((day) => !DAYS.includes(day))) return 'days'
  const clock = openClock(zone)
  if (clock === undefined) return 'zone'
  // A span that ends before it begins ends the next morning.
  const overnight = end <= start
  const isDay = (day: number) => days === undefined || days.includes(DAYS[day] as string)
  return (at) => {
    const { day, minute } = clock(at)
    if (minute >= start && (overnight || minute < end)) return isDay(day)
    return overnight && minute < end && isDay((day + 6) % 7)
  }
}

function parseMinute(text: string): number | undefined {
  const match = CLOCK.exec(text)
  return match === null ? undefined : Number(match[1]) * 60 + Number(match[2])
}

/** Opens a clock that reads the time of a zone at a moment (ISO 8601, UTC). */
export function zoneClock(zone: string) {
  const written = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const format = attempt(() => new Intl.DateTimeFormat('en-US', { timeZone: zone, ...written }))
  if (format === undefined) return undefined
  const read = (at: string) => {
    const parts = Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]))
    const day = DAYS.indexOf(parts['weekday']?.toLowerCase() ?? '')
    return { day, minute: Number(parts['hour']) * 60 + Number(parts['minute']) }
  }
  // Many requests come in one minute, so its time is read once.
  let minuteText = ''
  let time = { day: 0, minute: 0 }
  return (at: string) => {
    const text = at.slice(0, 16)
    if (text !== minuteText) {
      minuteText = text
      time = read(at)
    }
    return time
  }
}
