import type { LocalText, RefusalPage } from '../request/request-host.ts'
import { createChooser } from './languages.ts'
import { kindOf, REFUSAL_TEXTS, type RefusalTexts } from './refusal-texts.ts'

/** The refusal that is put into words. */
export interface Refused {
  readonly status: number
  readonly id: string
  /** Name, value, name, value … */
  readonly fields: readonly string[]
  /** Seconds after which it may come again. */
  readonly retryAfter?: number | undefined
}

/** A text, and its language where that is another than the page's. */
export interface Phrase {
  readonly text: string
  readonly lang?: string | undefined
}

/** All that is said to a refused visitor, in a language that the request likes. */
export interface RefusalWords {
  readonly lang: string
  /** Direction of writing of that language. */
  readonly dir: 'ltr' | 'rtl'
  readonly title: Phrase
  readonly text: Phrase
  /** The next step for a visitor; with a contact, the contact comes behind it. */
  readonly next?: string | undefined
  readonly contact: string
  /** Before the request's id. */
  readonly reference: string
}

/** The words for a refusal: the site's own where it has some for a block, else ours. */
export function refusalWords(page: RefusalPage, { status, fields, retryAfter }: Omit<Refused, 'id'>): RefusalWords {
  const kind = kindOf(status)
  const wanted = createChooser(fields)
  const lang = wanted(Object.keys(REFUSAL_TEXTS))
  const texts = REFUSAL_TEXTS[lang] as RefusalTexts
  const phrase = (part: 'title' | 'text'): Phrase =>
    phraseOf(kind === 'blocked' ? page[part] : undefined, texts[kind][part], lang, wanted)
  const { contact = '' } = page
  // The others say it in their text, and a site's own text says what the site wants to say.
  const open = (kind === 'blocked' && page.text === undefined) || kind === 'invalid'
  return {
    lang,
    dir: isRightToLeft(lang) ? 'rtl' : 'ltr',
    title: phrase('title'),
    text: kind === 'limited' && retryAfter ? waiting(phrase('text'), retryAfter, lang) : phrase('text'),
    next: contact !== '' ? texts.contact : open ? texts.mistake : undefined,
    contact,
    reference: texts.reference,
  }
}

/** A text with the time to wait behind it, as its language says that: `(in 30 seconds)`. */
function waiting({ text }: Phrase, seconds: number, lang: string): Phrase {
  const inWords = new Intl.RelativeTimeFormat(lang)
  const time = seconds < 120 ? inWords.format(seconds, 'second') : inWords.format(Math.ceil(seconds / 60), 'minute')
  return { text: `${text} (${time})` }
}

/** The site's own text, in the language of it that is liked best, else ours. */
export function phraseOf(
  own: LocalText | undefined,
  ours: string,
  lang: string,
  wanted: (languages: readonly string[]) => string,
): Phrase {
  if (typeof own !== 'object') return { text: own ?? ours }
  const language = wanted(Object.keys(own))
  return { text: own[language] ?? ours, lang: language === lang ? undefined : language }
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar'])

/** Whether a language is written from the right. */
export function isRightToLeft(lang: string): boolean {
  return RIGHT_TO_LEFT.has(lang)
}

/** The words as plain text. */
export function refusalText(words: RefusalWords, id: string): string {
  const { title, text, next, contact, reference } = words
  const stop = /^(?:ja|zh)/.test(words.lang) ? '。' : '. '
  const first = /[\p{P}]$/u.test(title.text) ? `${title.text} ${text.text}` : `${title.text}${stop}${text.text}`
  const advice = next === undefined ? [] : [`${next} ${contact}`.trim(), '']
  return [first, '', ...advice, `${reference}: ${id}`, ''].join('\n')
}
