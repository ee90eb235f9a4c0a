import { isAi } from '../agent/user-agent.ts'
import type { Crawler } from '../crawler/catalogue.ts'
import { SallyportError } from '../errors.ts'

/** Permitted uses of content, as its site says: a wish, which no gate can enforce once a page has been fetched. */
export const CONTENT_SIGNALS = ['search', 'ai-input', 'ai-train'] as const
export type ContentSignal = (typeof CONTENT_SIGNALS)[number]

/** `undefined`: nothing is said, neither that it may be nor that it may not. */
export interface ContentSignals {
  readonly search?: 'yes' | 'no' | undefined
  readonly 'ai-input'?: 'yes' | 'no' | undefined
  readonly 'ai-train'?: 'yes' | 'no' | undefined
}

/** Crawlers whose visits a use begins with. */
const USERS: Readonly<Record<ContentSignal, (crawler: Crawler) => boolean>> = {
  search: ({ purpose }) => purpose === 'search',
  'ai-input': (crawler) => isAi(crawler) && crawler.purpose !== 'training',
  'ai-train': ({ purpose }) => purpose === 'training',
}

/** The same uses in the vocabulary of the IETF's `Content-Usage`, which has no word for what AI reads at the moment. */
const USAGES: Readonly<Partial<Record<ContentSignal, string>>> = { search: 'search', 'ai-train': 'train-ai' }

/** Whether every crawler of a use is refused; not where there is none. */
export function isUseRefused(
  signal: ContentSignal,
  crawlers: readonly Crawler[],
  isRefused: (crawler: Crawler) => boolean,
): boolean {
  const users = crawlers.filter(USERS[signal])
  return users.length > 0 && users.every(isRefused)
}

/**
 * Signals as wished, and `no` for a use whose every crawler is refused. Throws `invalid_config` for a `yes` to such a use.
 */
export function signalsOf(
  wished: ContentSignals,
  crawlers: readonly Crawler[],
  isRefused: (crawler: Crawler) => boolean,
): ContentSignals {
  const entries = CONTENT_SIGNALS.map((signal) => {
    const refused = isUseRefused(signal, crawlers, isRefused)
    if (refused && wished[signal] === 'yes') {
      throw new SallyportError(
        'invalid_config',
        `robots.signals.${signal}: "yes", but the policy refuses all that ask for it`,
      )
    }
    return [signal, wished[signal] ?? (refused ? 'no' : undefined)] as const
  })
  return Object.fromEntries(entries)
}

/** Lines of a group of robots.txt: `Content-Signal` (contentsignals.org) and `Content-Usage` (draft-ietf-aipref-attach). */
export function signalLines(signals: ContentSignals): readonly string[] {
  const said = CONTENT_SIGNALS.filter((signal) => signals[signal] !== undefined)
  const usage = usageText(signals)
  return [
    ...(said.length > 0 ? [`Content-Signal: ${said.map((signal) => `${signal}=${signals[signal]}`).join(', ')}`] : []),
    ...(usage === '' ? [] : [`Content-Usage: ${usage}`]),
  ]
}

/** Signals in the words of `Content-Usage`; '' for none. */
export function usageText(signals: ContentSignals): string {
  const usages = CONTENT_SIGNALS.flatMap((signal) => {
    const usage = USAGES[signal]
    return usage === undefined || signals[signal] === undefined
      ? []
      : [`${usage}=${signals[signal] === 'yes' ? 'y' : 'n'}`]
  })
  return usages.join(', ')
}
