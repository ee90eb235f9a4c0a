import type { NetworkClass } from '../vocabulary.ts'
import type { Rule } from './policy.ts'

export const ANONYMISERS: readonly NetworkClass[] = ['vpn', 'residential_proxy', 'tor']
export const INFRASTRUCTURE: readonly NetworkClass[] = ['hosting', 'datacenter']

/** Surer than one contradiction alone can make a verdict: two of them, or a strong one from a network of servers. */
const TWICE_CONTRADICTED = { atLeast: 0.9 }

export const IMPOSTOR: Rule = { id: 'impostor', match: { class: ['impostor'] }, action: 'block' }
export const VERIFIED: Rule = { id: 'verified', match: { identity: ['*'] }, action: 'allow' }
export const HEADLESS: Rule = { id: 'headless', match: { headless: true }, action: 'flag' }
export const CONTRADICTED_TWICE: Rule = {
  id: 'contradicted-twice',
  match: { basis: ['contradiction'], confidence: TWICE_CONTRADICTED },
  action: 'block',
}

/** In place of a flag or a block where a person may be in doubt: work, which is done in a moment. */
export const ASKED: Pick<Rule, 'action' | 'challenge'> = { action: 'challenge', challenge: { level: 2 } }
