import type { AgentClass, NetworkClass } from '../vocabulary.ts'

/** Networks in which people are, or of which it is not known that they are other networks. */
export const HOME_NETWORKS: ReadonlySet<string> = new Set<NetworkClass>(['residential_clean', 'mobile', 'unknown'])

/** Kinds of visitors in reports. `unclear`: a request that looks like a person's browser, and may be a program. */
export const VISITORS = ['person', 'unclear', 'program'] as const
export type Visitor = (typeof VISITORS)[number]

/** The part of a request, or of its line in the log, that tells people from programs. */
export interface VisitorSigns {
  readonly class: string
  readonly networkClass: string
  /** 0 to 1; absent in a log of an earlier version. */
  readonly botProbability?: number | undefined
  /** It brought a pass, or earned one. */
  readonly hasPass: boolean
}

/** Below it a visitor is a person sooner than a program. */
const EVEN = 0.5

/** Classes of clients that no challenge makes a person of: they name themselves, or are proven. */
const NAMED: ReadonlySet<string> = new Set<AgentClass>(['ai_agent', 'verified_crawler', 'impostor'])

/**
 * A person is a client with a pass, or one that is sooner a person's browser than a program on a network of people. Of another
 * client that looks like a browser nobody can tell.
 */
export function visitorOf({ class: ofClass, networkClass, botProbability = 1, hasPass }: VisitorSigns): Visitor {
  if (NAMED.has(ofClass)) return 'program'
  if (hasPass) return 'person'
  if (ofClass !== 'human') return 'program'
  return botProbability < EVEN && HOME_NETWORKS.has(networkClass) ? 'person' : 'unclear'
}
