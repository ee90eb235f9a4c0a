import { lazily } from '@sallyport/core/host'
import texts from './page-texts.json' with { type: 'json' }

/**
 * The texts that the page needs in each language. A number of seconds replaces `{time}`, and the name of the provider `{name}`. `formTitle`
 * and `formDone` replace the title, and the status after the pass, where a form was sent.
 */
export type ChallengeTexts = (typeof texts)['en']

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
