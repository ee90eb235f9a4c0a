import type { Policy, PresetName, Rule } from '../policy.ts'
import {
  ANONYMISERS,
  ASKED,
  BROWSERS,
  BUDGET,
  CONTRADICTED_TWICE,
  DOUBTFUL,
  HEADLESS,
  IMPOSTOR,
  INFRASTRUCTURE,
  MAIL_PROGRAMS,
  READING,
  UNPROVEN,
  VERIFIED,
} from './common-rules.ts'
import { LIMIT_PRESETS } from './limit-presets.ts'
import { expandRow } from './preset-row.ts'
import { STOP_SCRAPERS, UNDER_ATTACK } from './scraper-presets.ts'

/** Marks evidence: these rules stop nothing, and mark requests of every method. */
const CONTRADICTED: Rule = { id: 'contradicted', match: { basis: ['contradiction'] }, action: 'flag' }
const INCOMPLETE: Rule = { id: 'incomplete', match: { basis: ['absence', 'behaviour'] }, action: 'flag' }
const NAMED: Rule = { id: 'named', match: { basis: ['crawler', 'ai-name'] }, action: 'flag' }
const ANONYMISED: Rule = { id: 'anonymised', match: { networkClass: ANONYMISERS }, action: 'flag' }
const SERVERS: Rule = { id: 'infrastructure', match: { networkClass: INFRASTRUCTURE }, action: 'flag' }

/** Matches whole browsers, with no evidence against them but their network. */
const WHOLE = { basis: ['network'], userAgent: BROWSERS, not: { userAgent: MAIL_PROGRAMS }, method: READING } as const

/** Preset rules follow the user's own; the policy's default decides where none matches. */
export const PRESETS: Readonly<Record<PresetName, readonly Rule[]>> = {
  observe: [],
  'low-friction': [
    // Verified crawlers come first, because crawlers run in datacenters.
    VERIFIED,
    IMPOSTOR,
    HEADLESS,
    CONTRADICTED,
    INCOMPLETE,
    NAMED,
    ANONYMISED,
    SERVERS,
  ],
  'protect-content': [
    { id: 'training', match: { purpose: ['training'] }, action: 'block' },
    IMPOSTOR,
    { id: 'ai', match: { class: ['ai_agent'] }, action: 'flag' },
    { id: 'ai-crawler', match: { purpose: ['ai-search', 'user-fetch'] }, action: 'flag' },
    // A proven AI is let through with the mark.
    {
      ...VERIFIED,
      match: { ...VERIFIED.match, class: ['verified_crawler'], not: { purpose: ['ai-search', 'user-fetch'] } },
    },
    { ...HEADLESS, action: 'block' },
    ...expandRow(BUDGET),
    UNPROVEN,
    { ...CONTRADICTED, id: 'contradicted-page', match: { ...CONTRADICTED.match, method: READING }, ...ASKED },
    DOUBTFUL,
    // A host that rents to VPN services and to others: its addresses prove neither.
    { id: 'mixed', match: { ...WHOLE, networkClass: ['vpn'], networkConfidence: { atMost: 0.6 } }, ...ASKED },
    { id: 'servers', match: { ...WHOLE, networkClass: INFRASTRUCTURE }, ...ASKED },
    { id: 'program', match: { class: ['unverified_bot'] }, action: 'flag' },
    CONTRADICTED,
    INCOMPLETE,
    ANONYMISED,
    SERVERS,
  ],
  'agents-welcome': [
    VERIFIED,
    IMPOSTOR,
    { id: 'ai', match: { class: ['ai_agent'] }, action: 'flag' },
    HEADLESS,
    CONTRADICTED,
    INCOMPLETE,
    NAMED,
    ANONYMISED,
  ],
  'jurisdiction-strict': [
    IMPOSTOR,
    { ...ANONYMISED, action: 'block', onError: 'block' },
    { id: 'unknown-country', match: { country: ['unknown'] }, action: 'flag', onError: 'block' },
    CONTRADICTED_TWICE,
    ...expandRow(BUDGET),
    UNPROVEN,
    DOUBTFUL,
    HEADLESS,
    CONTRADICTED,
    INCOMPLETE,
    NAMED,
    SERVERS,
  ],
  'stop-scrapers': STOP_SCRAPERS.flatMap(expandRow),
  'under-attack': UNDER_ATTACK.flatMap(expandRow),
}

/** Lists the rules of a policy and of the presets that it names, in the order of evaluation. */
export function rulesInForce({ rules, limits = [], preset }: Policy): readonly Rule[] {
  return [...rules, ...limits.flatMap((name) => LIMIT_PRESETS[name]), ...PRESETS[preset]]
}
