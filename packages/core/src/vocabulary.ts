import type { CrawlerRow } from '@sallyport/data/crawlers'

/**
 * Lists the closed vocabularies of the specification ("Resources and their fields"). Schemas, types, policies and compiled tables all read
 * these tuples. Compiled files number `NETWORK_CLASSES` and `AS_TYPES` by their order, so new words go at the end.
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
/** Classifies the network of an address (specification: NetworkClass); `Verdict.classification` has one. */
export type NetworkClass = (typeof NETWORK_CLASSES)[number]

/** Types of an autonomous system, by its operator (specification: AsnNetworkType). */
export const AS_TYPES = ['hosting', 'isp', 'mobile', 'vpn', 'tor', 'education', 'government', 'unknown'] as const
export type AsType = (typeof AS_TYPES)[number]

/** The top list of the directory of autonomous systems is ordered by one of these. */
export const DIRECTORY_ORDERS = ['addresses', 'prefixes'] as const
export type DirectoryOrder = (typeof DIRECTORY_ORDERS)[number]

/**
 * Lists the actions in order of strictness. `redirect` sends a verified crawler to another place of the site; `challenge` challenges a
 * client without a pass; `offer` names a price (402) and lets a paying client pass; `throttle` refuses for a while (429), and only a rule
 * that counts may use it.
 */
export const ACTIONS = ['allow', 'flag', 'redirect', 'challenge', 'offer', 'throttle', 'block'] as const
/** Decides what happens to a request; `Decision.action` and the `action` of a rule have one. */
export type Action = (typeof ACTIONS)[number]

/** Rules that do not count, and `/v1`, have these actions. */
export const PLAIN_ACTIONS = ['allow', 'flag', 'block'] as const satisfies readonly Action[]
export type PlainAction = (typeof PLAIN_ACTIONS)[number]

/** Maps an action to the three that `/v1` knows: its callers cannot show a challenge or be redirected. */
export function plainAction(action: Action): PlainAction {
  if (action === 'redirect') return 'allow'
  if (action === 'challenge') return 'flag'
  return action === 'throttle' || action === 'offer' ? 'block' : action
}

export function refuses(action: Action): boolean {
  return action === 'block' || action === 'throttle' || action === 'offer' || action === 'challenge'
}

export function isStricter(action: Action, than: Action): boolean {
  return ACTIONS.indexOf(action) > ACTIONS.indexOf(than)
}

/** `enforce`: flags and blocks take effect. `monitor`: they are only recorded. */
export const MODES = ['enforce', 'monitor'] as const
/** Says whether decisions take effect: the key `mode` of a configuration and of a mount. */
export type Mode = (typeof MODES)[number]

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

/** A crawler's claim has one of these outcomes (specification: CrawlerVerifyResponse). */
export const CRAWLER_OUTCOMES = ['verified', 'spoofed', 'unverifiable'] as const
export type CrawlerOutcome = (typeof CRAWLER_OUTCOMES)[number]

/** Classes of a client. `impostor`: its name was disproved. `unverified_bot`: a program that claims nothing provable. */
export const AGENT_CLASSES = ['human', 'ai_agent', 'verified_crawler', 'impostor', 'unverified_bot'] as const
/** Classifies a client by one of `AGENT_CLASSES`; `AgentVerdict.class` has one. */
export type AgentClass = (typeof AGENT_CLASSES)[number]

/** Names the sub-lookups that a response may report as failed or missing. */
export const DEGRADABLE = ['geo', 'asn', 'whois', 'ranges'] as const
export type Degraded = (typeof DEGRADABLE)[number]

/** An inspection may lack a sub-lookup, or `limits`, the counts that processes share. */
export type InspectionDegraded = Degraded | 'limits'

/** True for the three classes that mean deliberate anonymisation; hosting and datacenter only say who owns the network. */
export function anonymises(networkClass: NetworkClass): boolean {
  return networkClass === 'vpn' || networkClass === 'residential_proxy' || networkClass === 'tor'
}
