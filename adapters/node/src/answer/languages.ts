import { lazily } from '@sallyport/core/host'
import Negotiator from 'negotiator'
import { REFUSAL_TEXTS } from './refusal-texts.ts'

/** Counts the language ranges that are read of a request; browsers send ten at most. */
const MAX_RANGES = 12
/** Limits a range with its weight, in characters: a tag has at most 35 (RFC 5646 4.4.1). */
const MAX_RANGE = 48

/** A language tag that has its most likely script and region (UTS 35, likely subtags). */
interface Tag {
  /** The tag as the request wrote it, in lower case. */
  readonly text: string
  readonly language: string
  readonly script: string | undefined
  readonly region: string | undefined
  /** Whether the tag itself names a region. */
  readonly isRegional: boolean
}

/** Returns a function that picks the language which the request prefers, else the first of the list. */
export function createChooser(fields: readonly string[]): (languages: readonly string[]) => string {
  const accepted: string[] = []
  for (let at = 0; at + 1 < fields.length && accepted.length < MAX_RANGES; at += 2) {
    if (fields[at]?.toLowerCase() === 'accept-language')
      accepted.push(...(fields[at + 1] as string).split(',', MAX_RANGES).filter(({ length }) => length <= MAX_RANGE))
  }
  const text = accepted.slice(0, MAX_RANGES).join(',') || '*'
  const negotiator = new Negotiator({ headers: { 'accept-language': text } })
  const ranges = negotiator.languages().map((range) => (range === '*' ? undefined : readTag(range)))
  return (languages) => {
    const tags = languages.map((language) => ours().get(language) ?? readTag(language))
    for (const range of ranges) {
      // `*` matches any language that the request does not exclude.
      const found = range === undefined ? negotiator.language([...languages]) : languages[findNearest(range, tags)]
      if (found !== undefined) return found
    }
    return languages[0] as string
  }
}

/** Returns the index of the tag that is nearest to a range, the first of several; -1 where no tag has the language of the range. */
function findNearest(range: Tag, tags: readonly Tag[]): number {
  const ranks = tags.map((tag) => rank(range, tag))
  const best = Math.max(0, ...ranks)
  return best === 0 ? -1 : ranks.indexOf(best)
}

/** Rates how near a tag is to a range: the script counts before the words of a region. */
function rank(range: Tag, tag: Tag): number {
  if (range.text === tag.text) return 6
  if (findKin(range) !== findKin(tag)) return 0
  if (range.script !== tag.script) return 1
  if (range.language !== tag.language) return 2
  if (range.region === tag.region) return 5
  return tag.isRegional ? 3 : 4
}

/** Maps a language to another that its readers also read: Nynorsk to Bokmål, Cantonese to Mandarin. */
const KIN: Readonly<Record<string, string>> = { nn: 'nb', yue: 'zh' }

function findKin({ language }: Tag): string {
  return KIN[language] ?? language
}

/** Reads a tag. Where Intl rejects the whole tag, as for tags from before 2009, the first part counts. */
function readTag(text: string): Tag {
  const locale = parseLocale(text) ?? parseLocale(text.split('-', 1)[0] as string)
  const { language = text, script, region } = locale?.maximize() ?? {}
  const isRegional = locale?.region !== undefined
  // `no` alone means Bokmål.
  return { text: text.toLowerCase(), language: language === 'no' ? 'nb' : language, script, region, isRegional }
}

/** Matches a well-formed tag. Intl throws for any other text, which is slow. */
const TAG = /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i

function parseLocale(tag: string): Intl.Locale | undefined {
  if (!TAG.test(tag)) return undefined
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

/** Holds the tags of our own texts, from which most refusals choose. */
const ours = lazily(() => new Map(Object.keys(REFUSAL_TEXTS).map((language) => [language, readTag(language)])))
