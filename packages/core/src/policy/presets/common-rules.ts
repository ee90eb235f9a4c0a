import type { NetworkClass } from '../../vocabulary.ts'
import type { Rule } from '../policy.ts'
import type { PresetRow } from './preset-row.ts'

export const ANONYMISERS: readonly NetworkClass[] = ['vpn', 'residential_proxy', 'tor']
export const INFRASTRUCTURE: readonly NetworkClass[] = ['hosting', 'datacenter']

/** Methods on which presets challenge and refuse by evidence. Webhooks and callbacks send, and are counted only. */
export const READING = ['GET', 'HEAD'] as const

/** User agents that claim a browser: of clients that cannot show a page, none claims one. */
export const BROWSERS: readonly string[] = ['Mozilla/*', 'Opera/*']

/** Mail programs that name an engine as browsers do, and can show no page either. */
export const MAIL_PROGRAMS: readonly string[] = ['Mozilla/5.0 (*) Gecko/20100101 Thunderbird/*']

/** In place of a flag or a block where a person may be in doubt: work, which is done in a moment. */
export const ASKED: Pick<Rule, 'action' | 'challenge'> = { action: 'challenge', challenge: { level: 2 } }

/** A person with a pass opens fewer pages; a machine pays for the next ones. */
export const BUDGET: PresetRow = {
  id: 'budget',
  match: { pass: { atLeast: 1 } },
  limit: { key: 'pass', max: 120, window: '10m', count: 'page' },
  ...ASKED,
  why: 'pages for one pass; then its holder is challenged again',
}

export const IMPOSTOR: Rule = { id: 'impostor', match: { class: ['impostor'] }, action: 'block' }
export const VERIFIED: Rule = { id: 'verified', match: { identity: ['*'] }, action: 'allow' }
export const HEADLESS: Rule = { id: 'headless', match: { headless: true }, action: 'flag' }

/** Two contradictions, or one beside signs that are as much as a program's without it. */
export const CONTRADICTED_TWICE: Rule = {
  id: 'contradicted-twice',
  match: { basis: ['contradiction'], botProbability: { atLeast: 0.95 }, method: READING },
  action: 'block',
}

/** Signs of a program in three of four cases, and of one person in two hundred: the place for a challenge, never for a block. */
export const DOUBTFUL: Rule = {
  id: 'doubtful',
  match: { basis: ['contradiction', 'absence'], botProbability: { atLeast: 0.73 }, method: READING },
  ...ASKED,
}

/**
 * Crawlers whose name nothing proves. The name is worth no more than none, which is doubtful. Previews, monitors and feed
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
