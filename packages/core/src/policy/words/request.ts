import { type Fault, unknown } from '../language/fault.ts'
import { gramsOf } from '../language/text-pattern.ts'
import { compileSpan, DAYS, type SpanTest, type TimeSpan, zoneClock } from '../language/time-span.ts'
import { faultsOf, foldedSet, texts, tokenFault, type Values } from '../language/values.ts'
import { pathPatternFault } from '../paths/path-pattern.ts'
import { compilePaths } from '../paths/path-test.ts'
import { SplitPath } from '../paths/split-path.ts'
import { oneWay, valueIndex, type WordIndex, type WordsOf } from './match-word.ts'

/** Conditions on what is asked for, and when. */
export interface RequestMatch {
  /** Paths: `/login` is that path alone, `/admin/**` it and all below, `*` within a segment any characters. */
  readonly path?: readonly string[] | undefined
  readonly method?: readonly string[] | undefined
  /** Names of headers, all of which are there (`present`) or none of which is (`absent`). */
  readonly header?: HeaderNames | undefined
  readonly time?: TimeSpan | undefined
}

export interface HeaderNames {
  readonly present?: readonly string[] | undefined
  readonly absent?: readonly string[] | undefined
}

const HEADER_NAMES: Values<HeaderNames> = {
  shape: {
    members: {
      present: { shape: 'texts', description: 'Names of headers, all of which are there', example: ['cookie'] },
      absent: { shape: 'texts', description: 'Names of headers, none of which is there', example: ['accept-language'] },
    },
  },
  faults: (given) =>
    (['present', 'absent'] as const).flatMap((member) =>
      faultsOf(given[member] ?? [], tokenFault).map(({ path, message }) => ({ path: [member, ...path], message })),
    ),
}

const EXPECTED = {
  from: 'HH:MM',
  to: 'HH:MM',
  days: DAYS.join(', '),
  zone: 'the IANA name of a zone, as Europe/Vienna',
} as const

const SPAN: Values<TimeSpan> = {
  shape: {
    members: {
      from: { shape: 'text', description: 'Start of the span, HH:MM', absent: '00:00', example: '22:00' },
      to: {
        shape: 'text',
        description: 'End of the span, HH:MM, also next morning',
        absent: '24:00',
        example: '06:00',
      },
      days: {
        shape: { words: DAYS },
        description: 'Days on which the span begins',
        absent: 'every day',
        example: ['fri', 'sat'],
      },
      zone: { shape: 'text', description: 'Time zone, by its IANA name', absent: 'UTC', example: 'Europe/Berlin' },
    },
  },
  faults(given): readonly Fault[] {
    const member = compileSpan(given)
    if (typeof member === 'function') return []
    return [{ path: [member], message: `${unknown(given[member])}: expected ${EXPECTED[member]}` }]
  },
}

/** Returns the segments of a pattern before the one with its first star. */
function beforeStar(pattern: string): string {
  const star = pattern.indexOf('*')
  return star === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', star) + 1)
}

/** The letters of a path, beside its segments. */
const LETTERS = 'letters'

/** Rules are found by the whole segments before the first star, in the case that all readings share, or by their letters. */
const PATH_INDEX: WordIndex<readonly string[]> = {
  waysOf: (patterns) => [
    ...oneWay(patterns.map((pattern) => stemsOf(new SplitPath(beforeStar(pattern))))),
    ...oneWay(patterns.map(lettersOf), LETTERS),
  ],
  keysFor({ request: { path, readings } }, _, member) {
    if (readings?.length === 0) return undefined
    const all = [path, ...(readings ?? [])]
    if (member === undefined) return all.flatMap((reading) => stemsOf(new SplitPath(reading)))
    const grams = all.map((reading) => gramsOf(withoutEmpty(reading)))
    return grams.some((some) => some === undefined) ? undefined : grams.flatMap((some) => some ?? [])
  },
}

/** Runs of letters that each path of a pattern has. */
function lettersOf(pattern: string): readonly number[] {
  const stem = pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern
  return withoutEmpty(stem)
    .split('*')
    .flatMap((part) => gramsOf(part) ?? [])
}

/** A path in the case that all readings share, without empty segments. */
function withoutEmpty(path: string): string {
  return `/${new SplitPath(path).segments(false).join('/')}`
}

/** Segments by which rules are found: a longer path costs no more. */
const MAX_STEMS = 8

/** The path of each of the first segments, from the root on. */
function stemsOf(path: SplitPath): readonly string[] {
  const stems = ['']
  for (const segment of path.segments(false).slice(0, MAX_STEMS)) stems.push(`${stems.at(-1)}/${segment}`)
  return stems
}

function inCapitals(method: string): string {
  return method.toUpperCase()
}

export const REQUEST_WORDS: WordsOf<RequestMatch> = {
  path: {
    values: texts(pathPatternFault),
    asks: 'request',
    costly: true,
    robots: true,
    index: PATH_INDEX,
    description: 'Paths: /login is that path alone, /admin/** it and all below, * any characters of a segment',
    example: ['/login', '/admin/**'],
    test(given, { action, splitter }) {
      const matches = compilePaths(given, action === 'allow', splitter)
      return ({ request }) => matches(request)
    },
  },
  method: {
    values: texts(tokenFault),
    asks: 'request',
    robots: true,
    index: valueIndex(({ request }) => request.method, inCapitals),
    description: 'Methods',
    example: ['POST'],
    test(given) {
      const methods = new Set(given.map(inCapitals))
      return ({ request }) => methods.has(request.method)
    },
  },
  header: {
    values: HEADER_NAMES,
    asks: 'request',
    costly: true,
    mayLack: true,
    claim: true,
    robots: false,
    index: {
      waysOf: ({ present = [] }) => oneWay([[...foldedSet(present)]]),
      keysFor: (_, asked) => [...asked.headers()].map(([name]) => name),
    },
    description: 'Names of headers',
    test(given) {
      const present = (given.present ?? []).map((name) => name.toLowerCase())
      const absent = (given.absent ?? []).map((name) => name.toLowerCase())
      return (_, asked) => {
        let known = true
        for (const name of present) {
          if (asked.has(name)) continue
          if (asked.keeps(name)) return false
          known = false
        }
        for (const name of absent) {
          if (asked.has(name)) return false
          known &&= asked.keeps(name)
        }
        return known || undefined
      }
    },
  },
  time: {
    values: SPAN,
    asks: 'request',
    costly: true,
    robots: false,
    description: 'Hours of days',
    test(given, { once }) {
      const clockOf = (zone: string) => once(`clock of ${zone}`, () => zoneClock(zone))
      const isWithin = compileSpan(given, clockOf) as SpanTest
      return ({ at }) => isWithin(at)
    },
  },
}
