import type { CrawlerRow } from '@sallyport/data/crawlers'

/**
 * The closed word lists of the specification ("Resources and their fields"). Schemas, types, policies and compiled
 * tables all read these tuples; the order of `NETWORK_CLASSES` and `AS_TYPES` is also their number in a compiled
 * file, so new words go at the end.
 */
export const NETWORK_CLASSES = [
  'residential_clean',
  'mobile',
  'hosting',
  'datacenter',
  'vpn',
  'residential_proxy',
  'tor',
  'unknown',
] as const
/** Class of an address's network (specification: NetworkClass); `Verdict.classification` is one. */
export type NetworkClass = (typeof NETWORK_CLASSES)[number]

/** Type of an autonomous system, by its operator (specification: AsnNetworkType). */
export const AS_TYPES = ['hosting', 'isp', 'mobile', 'vpn', 'tor', 'education', 'government', 'unknown'] as const
export type AsType = (typeof AS_TYPES)[number]

/** How the top list of the directory of autonomous systems is ordered. */
export const DIRECTORY_ORDERS = ['addresses', 'prefixes'] as const
export type DirectoryOrder = (typeof DIRECTORY_ORDERS)[number]

/**
 * In order of strictness. `redirect` sends a verified crawler to another place of the site; `challenge` asks who has no pass;
 * `throttle` refuses for a while (429), and is what a rule that counts may do.
 */
export const ACTIONS = ['allow', 'flag', 'redirect', 'challenge', 'throttle', 'block'] as const
/** The action on a request; `Decision.action` and the `action` of a rule are one. */
export type Action = (typeof ACTIONS)[number]

/** The actions of rules that do not count, and of `/v1`. */
export const PLAIN_ACTIONS = ['allow', 'flag', 'block'] as const satisfies readonly Action[]
export type PlainAction = (typeof PLAIN_ACTIONS)[number]

/** An action as `/v1` has it, which knows no other than those three: its callers cannot be shown a challenge or sent elsewhere. */
export function plainAction(action: Action): PlainAction {
  if (action === 'redirect') return 'allow'
  if (action === 'challenge') return 'flag'
  return action === 'throttle' ? 'block' : action
}

/** Whether a request with this action is refused: what it asks for is kept from it. */
export function refuses(action: Action): boolean {
  return action === 'block' || action === 'throttle' || action === 'challenge'
}

export function isStricter(action: Action, than: Action): boolean {
  return ACTIONS.indexOf(action) > ACTIONS.indexOf(than)
}

/** `enforce`: flags and blocks are carried out. `monitor`: they are recorded only. */
export const MODES = ['enforce', 'monitor'] as const
/** Whether decisions are carried out: the key `mode` of a configuration and of a mount. */
export type Mode = (typeof MODES)[number]

/** Purpose of a crawler's visits, as in the catalogue. */
export const CRAWLER_PURPOSES = [
  'search',
  'training',
  'ai-search',
  'user-fetch',
  'agent',
  'preview',
  'seo',
  'monitor',
  'archive',
  'feed',
  'federation',
  'ads',
  'security',
] as const satisfies readonly CrawlerRow['purpose'][]

export type CrawlerPurpose = (typeof CRAWLER_PURPOSES)[number]

/** Outcome of a crawler's claim (specification: CrawlerVerifyResponse). */
export const CRAWLER_OUTCOMES = ['verified', 'spoofed', 'unverifiable'] as const
export type CrawlerOutcome = (typeof CRAWLER_OUTCOMES)[number]

/**
 * Class of a client. `impostor`: a name that was disproved. `unverified_bot`: a program that claims nothing that can be
 * proved.
 */
export const AGENT_CLASSES = ['human', 'ai_agent', 'verified_crawler', 'impostor', 'unverified_bot'] as const
/** Class of a client: one of `AGENT_CLASSES`; `AgentVerdict.class` is one. */
export type AgentClass = (typeof AGENT_CLASSES)[number]

/** Names of sub-lookups that an answer may report as failed or missing. */
export const DEGRADABLE = ['geo', 'asn', 'whois', 'ranges'] as const
export type Degraded = (typeof DEGRADABLE)[number]

/** Parts that an inspection may lack: a sub-lookup, or `limits`, the counts that processes share. */
export type InspectionDegraded = Degraded | 'limits'

/** True for the three classes that mean deliberate anonymisation; hosting and datacenter state ownership only. */
export function anonymises(networkClass: NetworkClass): boolean {
  return networkClass === 'vpn' || networkClass === 'residential_proxy' || networkClass === 'tor'
}
