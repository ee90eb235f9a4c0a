import { JA4_CIPHERS } from '@sallyport/data/ja4'
import { parseJa4 } from '../../agent/ja4.ts'
import { bareAgent, compileAgents } from '../language/agent-names.ts'
import type { Asked } from '../language/asked.ts'
import { unknown } from '../language/fault.ts'
import { listNeedles, namedPatterns, PATTERNS } from '../language/text-pattern.ts'
import { anyWord, tokenFault } from '../language/values.ts'
import { foldName } from '../language/wide-values.ts'
import { asciiHost, readHosts } from './hosts.ts'
import { word } from './match-word.ts'
import { agree, compileWanted, field, NONE, namedWord, OF_FIELDS, readTexts, textWord } from './text-word.ts'

export const HTTP_VERSIONS = ['1.0', '1.1', '2'] as const

export const JA4_FAMILIES: readonly string[] = [...new Set(JA4_CIPHERS.map(({ family }) => family))]

const PARAMETERS = {
  exact: ({ query }: Asked, name: string) => query && (query.get(name) ?? NONE),
  wide: ({ wideQuery }: Asked, name: string) => wideQuery && (wideQuery.get(foldName(name)) ?? NONE),
}

const COOKIES = {
  exact: ({ cookies }: Asked, name: string) => cookies && (cookies.get(name) ?? NONE),
  wide: ({ wideCookies }: Asked, name: string) => wideCookies && (wideCookies.get(foldName(name)) ?? NONE),
}

const FIELDS = {
  exact: (asked: Asked, name: string) => field(name)(asked),
  wide: (asked: Asked, name: string) => (asked.keeps(name) ? asked.wideValues(name) : undefined),
}

/** Holds conditions on what a request says of itself and of its target: any client can forge it. */
export const CLAIM_WORDS = {
  userAgent: word(
    'User agents: a name (GPTBot) matches as a word, except in allow rules; *Scrapy*, /…/ and =curl match the whole',
    PATTERNS,
    {
      ...OF_FIELDS,
      claim: true,
      example: ['GPTBot'],
      test(given, { action, surroundings }) {
        const every = action === 'allow'
        const matches = compileAgents(given, surroundings, every)
        const wanted = { matches, needles: listNeedles(given.map(bareAgent)), every }
        return (inspection, asked) => agree(asked.once(readAgents, inspection), wanted)
      },
    },
  ),
  host: textWord(
    readHosts,
    { description: 'Host patterns, without a port', example: ['*.example.com'] },
    { write: asciiHost },
  ),
  query: namedWord('parameter', PARAMETERS, {
    values: namedPatterns((name) => (name === '' ? unknown(name) : undefined)),
    description: 'Query parameters, each with value patterns',
    example: { page: ['/^[0-9]{4}/'] },
  }),
  cookie: namedWord('cookie', COOKIES, {
    claim: true,
    values: namedPatterns(tokenFault),
    description: 'Cookies, each with value patterns',
    example: { theme: ['dark'] },
  }),
  headerValue: namedWord('header', FIELDS, {
    claim: true,
    values: namedPatterns(headerFault),
    description: 'Headers (lower case), each with value patterns',
    example: { accept: ['text/html*'] },
  }),
  referer: textWord(field('referer'), {
    claim: true,
    description: 'Referer patterns',
    example: ['https://*.example.com/*'],
  }),
  contentType: textWord((asked) => field('content-type')(asked)?.map(mediaType), {
    claim: true,
    description: 'Content-Type patterns, without parameters',
    example: ['multipart/form-data'],
  }),
  language: textWord(
    (asked) => field('accept-language')(asked)?.flatMap(readLanguages),
    {
      claim: true,
      description: 'Accept-Language patterns: a tag or its primary part',
      example: ['de', 'fr-CH'],
    },
    { isEach: false },
  ),
  httpVersion: word('HTTP versions', anyWord(HTTP_VERSIONS), {
    ...OF_FIELDS,
    claim: true,
    example: ['1.0'],
    test(given) {
      const versions = new Set<string>(given.flatMap((version) => [version, `${version}.0`]))
      return (_, { parts }) => (parts.httpVersion ? versions.has(parts.httpVersion) : undefined)
    },
  }),
  ja4: word(`JA4 patterns, or TLS client families: ${JA4_FAMILIES.join(', ')}`, PATTERNS, {
    ...OF_FIELDS,
    claim: true,
    example: ['program'],
    test(given, { surroundings }) {
      const families = new Set(given.filter((word) => JA4_FAMILIES.includes(word)))
      const patterns = given.filter((word) => !families.has(word))
      const wanted = compileWanted(patterns, surroundings, false)
      return (inspection, asked) => {
        const texts = asked.once(readJa4, inspection)
        if (texts === undefined) return undefined
        if (patterns.length > 0 && agree(texts, wanted)) return true
        const family = families.size > 0 ? asked.once(readFamily, inspection) : undefined
        return family !== undefined && families.has(family)
      }
    },
  }),
}

const readAgents = readTexts(field('user-agent'))

const readJa4 = readTexts(({ parts: { ja4 } }) => (ja4 === undefined ? undefined : [ja4]))

function readFamily({ parts: { ja4 = '' } }: Asked): string | undefined {
  return parseJa4(ja4)?.family
}

/** Header names are in lower case, so that each field has one spelling. */
function headerFault(name: string): string | undefined {
  const lower = name.toLowerCase()
  return tokenFault(name) ?? (name === lower ? undefined : `${unknown(name)}; did you mean "${lower}"?`)
}

function mediaType(value: string): string {
  return (value.split(';', 1)[0] as string).trim()
}

/** Returns the languages of one line, without refused ones (`q=0`): each tag, and its first part. */
function readLanguages(line: string): readonly string[] {
  return line.split(',').flatMap((element) => {
    const [tag = '', ...parameters] = element.split(';').map((part) => part.trim())
    if (tag === '' || parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter))) return []
    const [primary = ''] = tag.split('-', 1)
    return primary === tag ? [tag] : [tag, primary]
  })
}
