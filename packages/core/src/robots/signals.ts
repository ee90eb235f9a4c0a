import { isAi } from '../agent/user-agent.ts'
import type { Crawler } from '../crawler/catalogue.ts'

/** Visits of these crawlers begin a use of content, by the names of uses in `Content-Signal` (contentsignals.org). */
const USERS: Readonly<Record<string, (crawler: Crawler) => boolean>> = {
  search: ({ purpose }) => purpose === 'search',
  'ai-input': (crawler) => isAi(crawler) && crawler.purpose !== 'training',
  'ai-train': ({ purpose }) => purpose === 'training',
}

/** Names the same uses in `Content-Usage` (draft-ietf-aipref-attach), which has no word for `ai-input`. */
const USAGES: Readonly<Record<string, string>> = { search: 'search', 'ai-train': 'train-ai' }

/** Returns the lines of robots.txt that deny each use whose every crawler is refused. No line permits a use. */
export function signalLines(crawlers: readonly Crawler[], isRefused: (crawler: Crawler) => boolean): readonly string[] {
  const denied = Object.keys(USERS).filter((use) => {
    const users = crawlers.filter(USERS[use] as (crawler: Crawler) => boolean)
    return users.length > 0 && users.every(isRefused)
  })
  const usages = denied.flatMap((use) => USAGES[use] ?? [])
  return [
    ...(denied.length > 0 ? [`Content-Signal: ${denied.map((use) => `${use}=no`).join(', ')}`] : []),
    ...(usages.length > 0 ? [`Content-Usage: ${usages.map((usage) => `${usage}=n`).join(', ')}`] : []),
  ]
}
