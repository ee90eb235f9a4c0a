import { JA4_CIPHERS } from '@sallyport/data/ja4'
import { withoutPort } from '../../address/without-port.ts'
import { parseJa4 } from '../../agent/ja4.ts'
import type { Asked } from '../language/asked.ts'
import { unknown } from '../language/fault.ts'
import {
  compilePatterns,
  FoldedText,
  isLiteral,
  keysOfText,
  type NamedPatterns,
  namedPatterns,
  PATTERNS,
  textKeys,
} from '../language/text-pattern.ts'
import { type IndexKey, someOf, tokenFault } from '../language/values.ts'
import { type MatchWord, oneWay, valueIndex, type WithinRule, type WordIndex, type WordsOf } from './match-word.ts'

/** Conditions on what a request says of itself and of what it asks for: anybody can say it. */
export interface ClaimMatch {
  readonly userAgent?: readonly string[] | undefined
  /** Hosts as they are asked for, without a port. */
  readonly host?: readonly string[] | undefined
  /** Parameters of the query and patterns of their values. */
  readonly query?: NamedPatterns | undefined
  readonly cookie?: NamedPatterns | undefined
  /** Header fields and patterns of their values. */
  readonly headerValue?: NamedPatterns | undefined
  readonly referer?: readonly string[] | undefined
  /** Media types of bodies, without parameters. */
  readonly contentType?: readonly string[] | undefined
  /** Languages of Accept-Language: a tag, or its first part alone. */
  readonly language?: readonly string[] | undefined
  readonly httpVersion?: readonly HttpVersion[] | undefined
  /** JA4 fingerprints, or families of TLS clients. */
  readonly ja4?: readonly string[] | undefined
}

export const HTTP_VERSIONS = ['1.0', '1.1', '2'] as const
export type HttpVersion = (typeof HTTP_VERSIONS)[number]

const JA4_FAMILIES: readonly string[] = [...new Set(JA4_CIPHERS.map(({ family }) => family))]

/** Members that every such row has: histories do not keep what it reads, and robots.txt has no word for it. */
const OF_FIELDS = { asks: 'request', costly: true, mayLack: true, robots: false } as const

/** A row for patterns of what `read` finds in a request; `undefined` where its source does not keep that. */
function textWord(
  read: (asked: Asked) => readonly string[] | undefined,
  row: Pick<MatchWord<readonly string[]>, 'description' | 'example' | 'claim'>,
  combine = agree,
): MatchWord<readonly string[]> {
  return {
    ...OF_FIELDS,
    ...row,
    values: PATTERNS,
    index: {
      waysOf: (given) => oneWay(given.flatMap(textKeys)),
      keysFor: (_, asked) => flatKnown(asked.once(read, () => read(asked))?.map(keysOfText) ?? []),
    },
    test(given, { action, surroundings, once }) {
      const matches = compilePatterns(
        given,
        surroundings,
        once(row.description, () => new FoldedText()),
      )
      return (_, asked) =>
        combine(
          asked.once(read, () => read(asked)),
          matches,
          action,
        )
    },
  }
}

/** Repeated values are evidence of one that hides: one of them is enough to flag or block, all earn permission. */
function agree(
  values: readonly string[] | undefined,
  matches: (text: string) => boolean,
  action: WithinRule['action'],
): boolean | undefined {
  if (values === undefined) return undefined
  return values.length > 0 && (action === 'allow' ? values.every(matches) : values.some(matches))
}

/** Fewer values are looked at one by one. */
const MANY_VALUES = 16

/** Whether none of many values has a key of those that match, so that thousands of them cost each rule no more than one. */
function noneCan(values: readonly string[], keys: readonly IndexKey[], asked: Asked): boolean {
  if (values.length < MANY_VALUES) return false
  const found = asked.once(values, () => {
    const all = flatKnown(values.map(keysOfText))
    return all && new Set(all)
  })
  return found !== undefined && !keys.some((key) => found.has(key))
}

/** One key of each alternative of some patterns; `undefined` where one of them has none. */
function leadsOf(patterns: readonly string[]): readonly IndexKey[] | undefined {
  const leads = patterns.flatMap(textKeys).map(([lead]) => lead)
  return leads.includes(undefined) ? undefined : (leads as readonly IndexKey[])
}

function one(values: readonly string[] | undefined, matches: (text: string) => boolean): boolean | undefined {
  return values?.some(matches)
}

function field(name: string): (asked: Asked) => readonly string[] | undefined {
  return (asked) => (asked.keeps(name) ? asked.values(name) : undefined)
}

type NamedValues = Iterable<readonly [name: string, values: readonly string[]]>

const NONE: readonly string[] = []

/** A row for named values, each with patterns. */
function namedWord(
  read: (asked: Asked, name: string) => readonly string[] | undefined,
  all: (asked: Asked) => NamedValues | undefined,
  row: Pick<MatchWord<NamedPatterns>, 'values' | 'description' | 'example' | 'claim'>,
): MatchWord<NamedPatterns> {
  return {
    ...OF_FIELDS,
    ...row,
    index: namedIndex(read, all),
    test(given, { action, surroundings }) {
      const members = Object.entries(given).map(([name, patterns]) => ({
        name,
        matches: compilePatterns(patterns, surroundings),
        keys: leadsOf(patterns),
      }))
      return (_, asked) => {
        let known = true
        for (const { name, matches, keys } of members) {
          const values = read(asked, name)
          if (keys !== undefined && values !== undefined && noneCan(values, keys, asked)) return false
          const holds = agree(values, matches, action)
          if (holds === false) return false
          known &&= holds !== undefined
        }
        return known || undefined
      }
    },
  }
}

/** Rules are found by the name of a member, by that and its value where they ask for few values literally, or by its letters. */
function namedIndex(
  read: (asked: Asked, name: string) => readonly string[] | undefined,
  all: (asked: Asked) => NamedValues | undefined,
): WordIndex<NamedPatterns> {
  return {
    waysOf: (given) =>
      Object.entries(given).flatMap(([name, patterns]) => {
        const keys = patterns.map((value) => (isLiteral(value) ? [name, `${name}=${value.toLowerCase()}`] : [name]))
        return [...oneWay(keys), ...oneWay(patterns.flatMap(textKeys), name)]
      }),
    keysFor(_, asked, member) {
      if (member !== undefined) return flatKnown(read(asked, member)?.map(keysOfText) ?? [])
      const found = all(asked)
      return (
        found &&
        [...found].flatMap(([name, values]) => [name, ...values.map((value) => `${name}=${value.toLowerCase()}`)])
      )
    },
  }
}

export const CLAIM_WORDS: WordsOf<ClaimMatch> = {
  userAgent: textWord(field('user-agent'), {
    claim: true,
    description: 'User agents, by patterns: * is any characters, /…/ a regular expression',
    example: ['*Scrapy*'],
  }),
  host: textWord(hostsOf, { description: 'Hosts, by patterns, without a port', example: ['*.example.com'] }),
  query: namedWord(
    ({ query }, name) => query && (query.get(name) ?? NONE),
    (asked) => asked.query,
    {
      values: namedPatterns((name) => (name === '' ? unknown(name) : undefined)),
      description: 'Parameters of the query, each with patterns of its value',
      example: { page: ['/^[0-9]{4}/'] },
    },
  ),
  cookie: namedWord(
    ({ cookies }, name) => cookies && (cookies.get(name) ?? NONE),
    (asked) => asked.cookies,
    {
      claim: true,
      values: namedPatterns(tokenFault),
      description: 'Cookies, each with patterns of its value',
      example: { theme: ['dark'] },
    },
  ),
  headerValue: namedWord(
    (asked, name) => field(name.toLowerCase())(asked),
    (asked) => asked.headers(),
    {
      claim: true,
      values: namedPatterns(headerFault),
      description: 'Header fields by their names in lower case, each with patterns of its value',
      example: { accept: ['text/html*'] },
    },
  ),
  referer: textWord(field('referer'), {
    claim: true,
    description: 'Referers, by patterns',
    example: ['https://*.example.com/*'],
  }),
  contentType: textWord((asked) => field('content-type')(asked)?.map(mediaType), {
    claim: true,
    description: 'Media types of bodies, by patterns, without parameters',
    example: ['multipart/form-data'],
  }),
  language: textWord(
    (asked) => field('accept-language')(asked)?.flatMap(languagesOf),
    {
      claim: true,
      description: 'Languages that the client accepts, by patterns: a tag or its first part',
      example: ['de', 'fr-CH'],
    },
    one,
  ),
  httpVersion: {
    ...OF_FIELDS,
    claim: true,
    values: someOf(HTTP_VERSIONS),
    index: valueIndex((_, { parts: { httpVersion } }) => httpVersion || undefined, shortVersion),
    description: 'Versions of HTTP',
    example: ['1.0'],
    test(given) {
      const versions = new Set<string>(given.flatMap((version) => [version, `${version}.0`]))
      return (_, { parts }) => (parts.httpVersion ? versions.has(parts.httpVersion) : undefined)
    },
  },
  ja4: {
    ...OF_FIELDS,
    claim: true,
    values: PATTERNS,
    index: {
      waysOf: (given) => oneWay(given.flatMap(ja4Keys)),
      keysFor: (_, { parts: { ja4 } }) => {
        if (ja4 === undefined) return []
        const family = parseJa4(ja4)?.family
        const grams = keysOfText(ja4)
        return family === undefined ? grams : grams && [family, ...grams]
      },
    },
    description: `JA4 fingerprints by patterns, or families of TLS clients: ${JA4_FAMILIES.join(', ')}`,
    example: ['program'],
    test(given, { surroundings }) {
      const families = new Set(given.filter((word) => JA4_FAMILIES.includes(word)))
      const matches = compilePatterns(
        given.filter((word) => !families.has(word)),
        surroundings,
      )
      return (_, { parts: { ja4 } }) => {
        if (ja4 === undefined) return undefined
        if (matches(ja4)) return true
        const family = families.size > 0 ? parseJa4(ja4)?.family : undefined
        return family !== undefined && families.has(family)
      }
    },
  },
}

function ja4Keys(word: string): readonly (readonly IndexKey[])[] {
  return JA4_FAMILIES.includes(word) ? [[word]] : textKeys(word)
}

/** `2.0` is 2, as it is written both ways. */
function shortVersion(version: string): string {
  return version.replace(/\.0$/, '')
}

/** Patterns of one field are found by one spelling of its name. */
function headerFault(name: string): string | undefined {
  const lower = name.toLowerCase()
  return tokenFault(name) ?? (name === lower ? undefined : `${unknown(name)}; did you mean "${lower}"?`)
}

/** The hosts that a request names, as its server may read them: `:authority` of HTTP/2 or Host, without port and last dot. */
function hostsOf(asked: Asked): readonly string[] | undefined {
  if (!asked.keeps('host')) return undefined
  return [...asked.values(':authority'), ...asked.values('host')].map((host) => withoutPort(host).replace(/\.$/, ''))
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] as string).trim()
}

/** A list that is known only if all of its members are. */
function flatKnown<Item>(lists: readonly (readonly Item[] | undefined)[]): readonly Item[] | undefined {
  if (lists.length === 1) return lists[0]
  return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? [])
}

/** Languages of one line, without those that are refused (`q=0`): each tag, and its first part. */
function languagesOf(line: string): readonly string[] {
  return line.split(',').flatMap((element) => {
    const [tag = '', ...parameters] = element.split(';').map((part) => part.trim())
    if (tag === '' || parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter))) return []
    const [primary = ''] = tag.split('-', 1)
    return primary === tag ? [tag] : [tag, primary]
  })
}
