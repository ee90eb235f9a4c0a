import type { AgentClass, NetworkClass } from '../vocabulary.ts'

/** People are in these networks, or nothing shows that they are other networks. */
export const HOME_NETWORKS: ReadonlySet<string> = new Set<NetworkClass>(['residential_clean', 'mobile', 'unknown'])

/** Lists kinds of visitors in reports. `unclear`: a request that looks like a person's browser, and may be a program. */
export const VISITORS = ['person', 'unclear', 'program'] as const
export type Visitor = (typeof VISITORS)[number]

/** Holds the parts of a request, or of its line in the log, that tell people from programs. */
export interface VisitorSigns {
  readonly class: string
  readonly networkClass: string
  /** Rates from 0 to 1; absent in a log of an earlier version. */
  readonly botProbability?: number | undefined
  /** The request brought a pass, or earned one. */
  readonly hasPass: boolean
}

/** Below this probability a visitor is sooner a person than a program. */
const EVEN = 0.5

/** No challenge turns clients of these classes into persons: they name themselves, or are proven. */
const NAMED: ReadonlySet<string> = new Set<AgentClass>(['ai_agent', 'verified_crawler', 'impostor'])

/**
 * Classifies a visitor. A person is a client with a pass, or one that is sooner a person's browser than a program on a network of people.
 * Another client that looks like a browser is unclear.
 */
export function classifyVisitor({ class: ofClass, networkClass, botProbability = 1, hasPass }: VisitorSigns): Visitor {
  if (NAMED.has(ofClass)) return 'program'
  if (hasPass) return 'person'
  if (ofClass !== 'human') return 'program'
  return botProbability < EVEN && HOME_NETWORKS.has(networkClass) ? 'person' : 'unclear'
}
