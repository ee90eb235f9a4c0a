import type { AgentClass } from '../vocabulary.ts'
import type { Reason } from './reason.ts'

/** Bases of an agent verdict, each with its words for people, in the order of evaluation: the first with evidence decides. */
export const BASIS_TEXTS = {
  signature: 'its signature',
  crawler: 'the crawler that its user agent names',
  'ai-name': 'the AI that its user agent names',
  automation: 'its own description',
  contradiction: 'headers that contradict each other',
  absence: 'headers that are missing',
  network: 'the network it comes from',
  none: 'no evidence against a person',
} as const
export type AgentBasis = keyof typeof BASIS_TEXTS
export const AGENT_BASES = Object.keys(BASIS_TEXTS) as readonly AgentBasis[]

export const IDENTITY_TYPES = ['address', 'signature', 'crawler'] as const

/** An identity that was named, and whether anything proves it. */
export interface AgentIdentity {
  /** `address`: on the policy's allowlist; `signature`: by Web Bot Auth; `crawler`: by a user agent of the catalogue. */
  readonly type: (typeof IDENTITY_TYPES)[number]
  /** The address, the identifier of the signature agent, or the slug of the catalogue. */
  readonly name: string
  readonly verified: boolean
}

/** The verdict on a client (specification: AgentscanCheckResponse), frozen and JSON-serialisable. */
export interface AgentVerdict {
  readonly class: AgentClass
  /** 0 to 1, that the class is right. */
  readonly confidence: number
  /**
   * 0 to 1, that the client is a program rather than a person's browser, whatever its class: what other products call a bot
   * score. It never falls when a sign is added. 0.5 where nothing could be looked at.
   */
  readonly botProbability: number
  readonly basis: AgentBasis
  /** A browser without a person in front of it, as far as it says so itself. */
  readonly headless: boolean
  /** 0 to 1, 1 when nothing in the headers contradicts the user agent; absent without headers to judge. */
  readonly headerConsistency?: number | undefined
  /** Whether an AI is named or proven, and which. */
  readonly ai?: { readonly name: string; readonly vendor: string } | undefined
  readonly identity?: AgentIdentity | undefined
  /** The operator and purpose of `identity`, where the catalogue knows them. */
  readonly operator?: string | undefined
  readonly purpose?: string | undefined
  readonly reasons: readonly Reason[]
}
