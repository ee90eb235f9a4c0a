import { type Fault, unknown } from '../language/fault.ts'
import { compileSpan, DAYS, type SpanTest, type TimeSpan, zoneClock } from '../language/time-span.ts'
import { namedTexts, texts, tokenFault, type Values } from '../language/values.ts'
import { pathPatternFault } from '../paths/path-pattern.ts'
import { compilePaths, splitPaths } from '../paths/path-test.ts'
import { joinTests, type Test, testValue, word } from './match-word.ts'

const HEADER_NAMES = namedTexts(tokenFault, {
  present: { description: 'Headers that must all be present', example: ['cookie'] },
  absent: { description: 'Headers that must all be absent', example: ['accept-language'] },
})

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

/** Holds conditions on the target of a request, and its time. */
export const REQUEST_WORDS = {
  path: word(
    'Paths: /login matches exactly, /admin/** also everything below, * any characters of a segment',
    texts(pathPatternFault),
    {
      asks: 'parts',
      robots: true,
      example: ['/login', '/admin/**'],
      test(given, { action }) {
        const matches = compilePaths(given, action === 'allow')
        return (inspection, asked) => matches(asked.once(splitPaths, inspection))
      },
    },
  ),
  method: word('Methods', texts(tokenFault), {
    asks: 'request',
    robots: true,
    example: ['POST'],
    test: (given) =>
      testValue(
        given.map((method) => method.toUpperCase()),
        ({ request }) => request.method,
      ),
  }),
  header: word('Presence of headers', HEADER_NAMES, {
    asks: 'parts',
    mayLack: true,
    claim: true,
    test({ present = [], absent = [] }, { action }) {
      const allows = action === 'allow'
      return joinTests([
        ...present.map((name) => testHeader(name, true, allows)),
        ...absent.map((name) => testHeader(name, false, allows)),
      ])
    },
  }),
  time: word('Time of day', SPAN, {
    asks: 'parts',
    test(given, { once }) {
      const openClock = (zone: string) => once(`clock of ${zone}`, () => zoneClock(zone))
      const isWithin = compileSpan(given, openClock) as SpanTest
      return ({ at }) => isWithin(at)
    },
  }),
}

function testHeader(written: string, isWanted: boolean, allows: boolean): Test {
  const name = written.toLowerCase()
  // A permission rests on a header as it is written, and on no field that servers may read as an absent one.
  const isExact = allows === isWanted
  return (_, asked) => {
    if (isExact ? asked.has(name) : asked.mayHave(name)) return isWanted
    return asked.keeps(name) ? !isWanted : undefined
  }
}
