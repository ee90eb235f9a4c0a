import { lazily } from '@sallyport/core/host'
import texts from './page-texts.json' with { type: 'json' }

/** The texts that the page needs in each language. */
export interface ChallengeTexts {
  readonly title: string
  readonly text: string
  /** Contains `{time}`, which a number of seconds replaces. */
  readonly time: string
  /** Contains `{name}`, which the name of the provider replaces. */
  readonly provider: string
  readonly done: string
  /** Tells a visitor who requested a download that the browser keeps this page open. */
  readonly download: string
  readonly cookies: string
  readonly failed: string
  /** Asks a visitor to enable scripts, where only a script earns a pass. */
  readonly script: string
  /** Replace the title, and the status after the pass, where a form was sent; we keep nothing of the form. */
  readonly formTitle: string
  readonly formDone: string
  /** Labels the link to the page that has the form. */
  readonly back: string
  /** Labels the link to the wanted page. */
  readonly again: string
}

/** Holds the texts by language (BCP 47). A browser that reads none of these languages gets the first. */
export const CHALLENGE_TEXTS: Readonly<Record<string, ChallengeTexts>> = texts

const SECONDS: Readonly<Record<string, () => Intl.NumberFormat>> = Object.fromEntries(
  Object.keys(CHALLENGE_TEXTS).map((lang) => [
    lang,
    lazily(() => new Intl.NumberFormat(lang, { style: 'unit', unit: 'second', unitDisplay: 'long' })),
  ]),
)

/** Describes how long the work takes, in a language that has texts. */
export function describeTime(lang: string, seconds: number): string {
  return (CHALLENGE_TEXTS[lang]?.time ?? '').replace('{time}', SECONDS[lang]?.().format(seconds) ?? '')
}

/** Names the provider of the challenge, in a language that has texts. */
export function describeProvider(lang: string, name: string): string {
  return (CHALLENGE_TEXTS[lang]?.provider ?? '').replace('{name}', () => name)
}
