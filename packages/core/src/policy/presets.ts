import { ANONYMISERS, ASKED, CONTRADICTED_TWICE, HEADLESS, IMPOSTOR, INFRASTRUCTURE, VERIFIED } from './common-rules.ts'
import type { PresetName, Rule } from './policy.ts'
import { rulesOf, STOP_SCRAPERS, UNDER_ATTACK } from './scraper-presets.ts'

const CONTRADICTED: Rule = { id: 'contradicted', match: { basis: ['contradiction'] }, action: 'flag' }
/** Absences can only flag, in every preset: proxies and people's own settings cause them too. */
const INCOMPLETE: Rule = { id: 'incomplete', match: { basis: ['absence'] }, action: 'flag' }
const ANONYMISED: Rule = { id: 'anonymised', match: { networkClass: ANONYMISERS }, action: 'flag' }
const SERVERS: Rule = { id: 'infrastructure', match: { networkClass: INFRASTRUCTURE }, action: 'flag' }

/** Rules that follow the user's own; the policy's default decides where none matches. */
export const PRESETS: Readonly<Record<PresetName, readonly Rule[]>> = {
  observe: [],
  'low-friction': [
    // First, because crawlers run in datacenters.
    VERIFIED,
    IMPOSTOR,
    HEADLESS,
    CONTRADICTED,
    { ...INCOMPLETE, match: { ...INCOMPLETE.match, class: ['human'] } },
    ANONYMISED,
    SERVERS,
  ],
  'protect-content': [
    { id: 'training', match: { purpose: ['training'] }, action: 'block' },
    IMPOSTOR,
    { id: 'ai', match: { class: ['ai_agent'] }, action: 'flag' },
    { id: 'ai-crawler', match: { purpose: ['ai-search', 'user-fetch'] }, action: 'flag' },
    VERIFIED,
    { ...HEADLESS, action: 'block' },
    { ...CONTRADICTED, ...ASKED },
    { id: 'program', match: { class: ['unverified_bot'] }, action: 'flag' },
    INCOMPLETE,
    // A host that rents to VPN services and to others: its addresses are no proof of either.
    { id: 'mixed', match: { networkClass: ['vpn'], networkConfidence: { atMost: 0.6 } }, ...ASKED },
    ANONYMISED,
    { ...SERVERS, ...ASKED },
  ],
  'agents-welcome': [
    VERIFIED,
    IMPOSTOR,
    { id: 'ai', match: { class: ['ai_agent'] }, action: 'flag' },
    HEADLESS,
    CONTRADICTED,
    INCOMPLETE,
    ANONYMISED,
  ],
  'jurisdiction-strict': [
    IMPOSTOR,
    { ...ANONYMISED, action: 'block', onError: 'block' },
    CONTRADICTED_TWICE,
    HEADLESS,
    CONTRADICTED,
    SERVERS,
    { id: 'unknown-country', match: { country: ['unknown'] }, action: 'flag', onError: 'block' },
    INCOMPLETE,
  ],
  'stop-scrapers': STOP_SCRAPERS.flatMap(rulesOf),
  'under-attack': UNDER_ATTACK.flatMap(rulesOf),
}
