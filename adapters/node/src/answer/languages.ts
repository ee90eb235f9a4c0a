import { lazily } from '@sallyport/core/host'
import Negotiator from 'negotiator'
import { REFUSAL_TEXTS } from './refusal-texts.ts'

/** Ranges of a request that are read; browsers send ten at most. */
const MAX_RANGES = 12
/** Characters of a range with its weight: a tag has 35 (RFC 5646 4.4.1). */
const MAX_RANGE = 48

/** A language tag with the script and the region in which it is most likely meant (UTS 35, likely subtags). */
interface Tag {
  /** The tag as it was written, in lower case. */
  readonly text: string
  readonly language: string
  readonly script: string | undefined
  readonly region: string | undefined
  /** Whether it is for one region, as written. */
  readonly isRegional: boolean
}

/** Picks of languages the one that the request likes best, else the first. */
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
      // Any language, but for those that the request excludes.
      const found = range === undefined ? negotiator.language([...languages]) : languages[nearest(range, tags)]
      if (found !== undefined) return found
    }
    return languages[0] as string
  }
}

/** The place of the tag that is nearest to a range, the first of several; -1 where none is of its language. */
function nearest(range: Tag, tags: readonly Tag[]): number {
  const ranks = tags.map((tag) => rank(range, tag))
  const best = Math.max(0, ...ranks)
  return best === 0 ? -1 : ranks.indexOf(best)
}

/** How near a tag is: a reader is at home first in a script, then in the words of a region. */
function rank(range: Tag, tag: Tag): number {
  if (range.text === tag.text) return 6
  if (kin(range) !== kin(tag)) return 0
  if (range.script !== tag.script) return 1
  if (range.language !== tag.language) return 2
  if (range.region === tag.region) return 5
  return tag.isRegional ? 3 : 4
}

/** Languages whose readers read another one: Nynorsk and Bokmål, Cantonese and Mandarin. */
const KIN: Readonly<Record<string, string>> = { nn: 'nb', yue: 'zh' }

function kin({ language }: Tag): string {
  return KIN[language] ?? language
}

/** A tag that Intl does not read, as those of before 2009 are, is its first part. */
function readTag(text: string): Tag {
  const locale = localeOf(text) ?? localeOf(text.split('-', 1)[0] as string)
  const { language = text, script, region } = locale?.maximize() ?? {}
  const isRegional = locale?.region !== undefined
  // Norwegian without more is written as Bokmål.
  return { text: text.toLowerCase(), language: language === 'no' ? 'nb' : language, script, region, isRegional }
}

/** Letters and digits of a tag, without which Intl throws, at a price. */
const TAG = /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i

function localeOf(tag: string): Intl.Locale | undefined {
  if (!TAG.test(tag)) return undefined
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

/** Tags of our own texts, which most refusals choose from. */
const ours = lazily(() => new Map(Object.keys(REFUSAL_TEXTS).map((language) => [language, readTag(language)])))
