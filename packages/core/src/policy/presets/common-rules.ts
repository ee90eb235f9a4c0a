import { SASE } from '../../counting/shared-address.ts'
import type { NetworkClass } from '../../vocabulary.ts'
import type { Rule } from '../policy.ts'
import type { Match } from '../words/match-words.ts'
import { makeRow } from './preset-row.ts'

export const ANONYMISERS: readonly NetworkClass[] = ['vpn', 'residential_proxy', 'tor']
export const INFRASTRUCTURE: readonly NetworkClass[] = ['hosting', 'datacenter']

/** Matches networks of servers and anonymisers, without the exits of companies, which are offices. */
export const RENTED: Match = { networkClass: [...INFRASTRUCTURE, ...ANONYMISERS], not: { provider: SASE } }

/** Presets challenge and refuse by evidence only on these methods. Webhooks and callbacks send, and are only counted. */
export const READING = ['GET', 'HEAD'] as const

/** Matches user agents that claim a browser; no client that cannot show a page claims one. */
export const BROWSERS: readonly string[] = ['Mozilla/*', 'Opera/*']

/** Matches mail programs that name an engine as browsers do, and cannot show a page either. */
export const MAIL_PROGRAMS: readonly string[] = ['Mozilla/5.0 (*) Gecko/20100101 Thunderbird/*']

/** Takes the place of a flag or a block where a person may be in doubt: work, which takes a moment. */
export const ASKED: Pick<Rule, 'action' | 'challenge'> = { action: 'challenge', challenge: { level: 2 } }

/** A person with a pass opens fewer pages; a machine pays for the next ones. */
export const BUDGET = makeRow('budget', 'the holder of a pass solves another challenge', {
  match: { pass: { atLeast: 1 } },
  limit: { key: 'pass', max: 120, window: '10m', count: 'page' },
  ...ASKED,
})

export const IMPOSTOR: Rule = { id: 'impostor', match: { class: ['impostor'] }, action: 'block' }
export const VERIFIED: Rule = { id: 'verified', match: { identity: ['*'] }, action: 'allow' }
export const HEADLESS: Rule = { id: 'headless', match: { headless: true }, action: 'flag' }

/** Blocks two contradictions, or one beside signs that are a program's without it. */
export const CONTRADICTED_TWICE: Rule = {
  id: 'contradicted-twice',
  match: { basis: ['contradiction'], botProbability: { atLeast: 0.95 }, method: READING },
  action: 'block',
}

/** Matches signs of a program in three of four cases, and of one person in two hundred: enough for a challenge, never for a block. */
export const DOUBTFUL: Rule = {
  id: 'doubtful',
  match: { basis: ['contradiction', 'absence', 'behaviour'], botProbability: { atLeast: 0.73 }, method: READING },
  ...ASKED,
}

/**
 * Matches crawlers whose name nothing proves. Such a name is worth no more than none, which is doubtful. Previews, monitors and feed
 * readers have limits of their own, and agents act for people.
 */
export const UNPROVEN: Rule = {
  id: 'unproven',
  match: {
    crawlerOutcome: ['unverifiable'],
    purpose: ['search', 'training', 'ai-search', 'seo', 'archive', 'ads', 'security'],
    method: READING,
  },
  ...ASKED,
}
