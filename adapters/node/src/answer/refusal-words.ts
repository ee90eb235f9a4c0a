import type { LocalText, RefusalPage } from '../request/request-host.ts'
import { createChooser } from './languages.ts'
import { REFUSAL_TEXTS, type RefusalTexts, refusalKind } from './refusal-texts.ts'

/** A refusal that is to be put into words. */
export interface Refused {
  readonly status: number
  readonly id: string
  /** Lists name, value, name, value … */
  readonly fields: readonly string[]
  /** Says after how many seconds the client may retry. */
  readonly retryAfter?: number | undefined
  /** Follows the text, as a price does. */
  readonly note?: string | undefined
}

/** A text, with its language where that differs from the page's. */
export interface Phrase {
  readonly text: string
  readonly lang?: string | undefined
}

/** Holds all texts for a refused visitor, in the language that the request prefers. */
export type RefusalWords = ReturnType<typeof refusalWords>

/** Chooses the words for a refusal: for a block the site's own where it has some, else ours. */
export function refusalWords(page: RefusalPage, { status, fields, retryAfter, note }: Omit<Refused, 'id'>) {
  const kind = refusalKind(status)
  const wanted = createChooser(fields)
  const lang = wanted(Object.keys(REFUSAL_TEXTS))
  const texts = REFUSAL_TEXTS[lang] as RefusalTexts
  const phrase = (part: 'title' | 'text'): Phrase =>
    choosePhrase(kind === 'blocked' ? page[part] : undefined, texts[kind][part], lang, wanted)
  const { contact = '' } = page
  // Other refusals say in their text what to do, and a site that writes its own text says what it wants.
  const open = (kind === 'blocked' && page.text === undefined) || kind === 'invalid'
  return {
    lang,
    dir: isRightToLeft(lang) ? 'rtl' : 'ltr',
    title: status === 451 ? { text: texts.legal } : phrase('title'),
    text: addNote(phrase('text'), kind === 'limited' && retryAfter ? formatWait(retryAfter, lang) : note),
    /** Advises the visitor what to do next; the contact follows it where there is one. */
    next: contact !== '' ? texts.contact : open ? texts.mistake : undefined,
    contact,
    /** Stands before the request's id. */
    reference: texts.reference,
  }
}

/** Adds a note after a text, such as the time to wait: `(in 30 seconds)`. */
function addNote(phrase: Phrase, note: string | undefined): Phrase {
  return note === undefined ? phrase : { text: `${phrase.text} (${note})` }
}

function formatWait(seconds: number, lang: string): string {
  const inWords = new Intl.RelativeTimeFormat(lang)
  return seconds < 120 ? inWords.format(seconds, 'second') : inWords.format(Math.ceil(seconds / 60), 'minute')
}

/** Chooses the site's own text in the language that the request prefers, else ours. */
export function choosePhrase(
  own: LocalText | undefined,
  ours: string,
  lang: string,
  wanted: (languages: readonly string[]) => string,
): Phrase {
  if (typeof own !== 'object') return { text: own ?? ours }
  const language = wanted(Object.keys(own))
  return { text: own[language] ?? ours, lang: language === lang ? undefined : language }
}

/** Reports whether a language is written from right to left: of ours, Arabic alone. */
export function isRightToLeft(lang: string): boolean {
  return lang === 'ar'
}

/** Writes the words as plain text. */
export function refusalText(words: RefusalWords, id: string): string {
  const { title, text, next, contact, reference } = words
  const stop = /^(?:ja|zh)/.test(words.lang) ? '。' : '. '
  const first = /[\p{P}]$/u.test(title.text) ? `${title.text} ${text.text}` : `${title.text}${stop}${text.text}`
  const advice = next === undefined ? [] : [`${next} ${contact}`.trim(), '']
  return [first, '', ...advice, `${reference}: ${id}`, ''].join('\n')
}
