import type { AgentClass } from '../vocabulary.ts'
import type { Reason } from './reason.ts'

/** Lists the bases of an agent verdict, each with its words for people, in the order of evaluation: the first with evidence decides. */
export const BASIS_TEXTS = {
  signature: 'its signature',
  crawler: 'the crawler that its user agent names',
  'ai-name': 'the AI that its user agent names',
  automation: 'its own description',
  contradiction: 'headers that contradict each other',
  absence: 'headers that are missing',
  behaviour: 'its behaviour on the site',
  network: 'the network it comes from',
  none: 'no evidence against a person',
} as const
export type AgentBasis = keyof typeof BASIS_TEXTS
export const AGENT_BASES = Object.keys(BASIS_TEXTS) as readonly AgentBasis[]

export const IDENTITY_TYPES = ['address', 'signature', 'crawler'] as const

/** An identity that a request names, and whether anything proves it. */
export interface AgentIdentity {
  /** An `address` is on the allowlist, a `signature` is verified by Web Bot Auth, a `crawler` is named by its user agent. */
  readonly type: (typeof IDENTITY_TYPES)[number]
  /** Names the address, the identifier of the signature agent, or the slug of the catalogue. */
  readonly name: string
  readonly verified: boolean
}

/** Holds the verdict on a client (specification: AgentscanCheckResponse), frozen and JSON-serialisable. */
export interface AgentVerdict {
  readonly class: AgentClass
  /** Rates how likely the class is right, 0 to 1. */
  readonly confidence: number
  /**
   * Rates how likely the client is a program rather than a person's browser, 0 to 1, whatever its class: other products call this a bot
   * score. It never falls when a sign is added. 0.5 where there was no evidence.
   */
  readonly botProbability: number
  readonly basis: AgentBasis
  /** True where the client itself shows that it is a browser without a person in front of it. */
  readonly headless: boolean
  /** Rates how far the headers agree with the user agent, 0 to 1; absent without headers to judge. */
  readonly headerConsistency?: number | undefined
  /** Names an AI that the request names or proves; absent where it does neither. */
  readonly ai?: { readonly name: string; readonly vendor: string } | undefined
  readonly identity?: AgentIdentity | undefined
  /** The catalogue knows the operator and purpose of `identity`; absent where it does not. */
  readonly operator?: string | undefined
  readonly purpose?: string | undefined
  readonly reasons: readonly Reason[]
}
