import { type Fault, faultsAt, unknown } from '../language/fault.ts'
import { compileSpan, DAYS, type SpanTest, type TimeSpan, zoneClock } from '../language/time-span.ts'
import { collectFaults, texts, tokenFault, type Values } from '../language/values.ts'
import { pathPatternFault } from '../paths/path-pattern.ts'
import { compilePaths, splitPaths } from '../paths/path-test.ts'
import { word } from './match-word.ts'

export interface HeaderNames {
  readonly present?: readonly string[] | undefined
  readonly absent?: readonly string[] | undefined
}

const HEADER_NAMES: Values<HeaderNames> = {
  shape: {
    members: {
      present: { shape: 'texts', description: 'Headers that must all be present', example: ['cookie'] },
      absent: { shape: 'texts', description: 'Headers that must all be absent', example: ['accept-language'] },
    },
  },
  faults: (given) =>
    (['present', 'absent'] as const).flatMap((member) =>
      faultsAt([member], collectFaults(given[member] ?? [], tokenFault)),
    ),
}

const EXPECTED = {
  from: 'HH:MM',
  to: 'HH:MM',
  days: DAYS.join(', '),
  zone: 'an IANA time zone such as Europe/Vienna',
} as const

const SPAN: Values<TimeSpan> = {
  shape: {
    members: {
      from: { shape: 'text', description: 'Start of the time span, HH:MM', absent: '00:00', example: '22:00' },
      to: {
        shape: 'text',
        description: 'End of the time span, HH:MM, possibly the next day',
        absent: '24:00',
        example: '06:00',
      },
      days: {
        shape: { words: DAYS },
        description: 'Days on which the span starts',
        absent: 'every day',
        example: ['fri', 'sat'],
      },
      zone: { shape: 'text', description: 'IANA time zone', absent: 'UTC', example: 'Europe/Berlin' },
    },
  },
  faults(given): readonly Fault[] {
    const member = compileSpan(given)
    if (typeof member === 'function') return []
    return [{ path: [member], message: `${unknown(given[member])}: expected ${EXPECTED[member]}` }]
  },
}

function inCapitals(method: string): string {
  return method.toUpperCase()
}

/** Holds conditions on the target of a request, and its time. */
export const REQUEST_WORDS = {
  /** Matches paths: `/login` is that path alone, `/admin/**` it and all below, `*` within a segment any characters. */
  path: word({
    values: texts(pathPatternFault),
    asks: 'parts',
    robots: true,
    description: 'Paths: /login matches exactly, /admin/** also everything below, * any characters of a segment',
    example: ['/login', '/admin/**'],
    test(given, { action }) {
      const matches = compilePaths(given, action === 'allow')
      return (inspection, asked) => matches(asked.once(splitPaths, inspection))
    },
  }),
  method: word({
    values: texts(tokenFault),
    asks: 'request',
    robots: true,
    description: 'Methods',
    example: ['POST'],
    test(given) {
      const methods = new Set(given.map(inCapitals))
      return ({ request }) => methods.has(request.method)
    },
  }),
  /** Names headers that must all be there (`present`), or must all be missing (`absent`). */
  header: word({
    values: HEADER_NAMES,
    asks: 'parts',
    mayLack: true,
    claim: true,
    description: 'Presence of headers',
    test(given, { action }) {
      const allows = action === 'allow'
      const present = (given.present ?? []).map((name) => name.toLowerCase())
      const absent = (given.absent ?? []).map((name) => name.toLowerCase())
      return (_, asked) => {
        let known = true
        for (const name of present) {
          if (allows ? asked.has(name) : asked.mayHave(name)) continue
          if (asked.keeps(name)) return false
          known = false
        }
        for (const name of absent) {
          if (allows ? asked.mayHave(name) : asked.has(name)) return false
          known &&= asked.keeps(name)
        }
        return known || undefined
      }
    },
  }),
  time: word({
    values: SPAN,
    asks: 'parts',
    description: 'Time of day',
    test(given, { once }) {
      const openClock = (zone: string) => once(`clock of ${zone}`, () => zoneClock(zone))
      const isWithin = compileSpan(given, openClock) as SpanTest
      return ({ at }) => isWithin(at)
    },
  }),
}
