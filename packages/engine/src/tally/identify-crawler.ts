import type { Decision } from '@sallyport/core'

/** A crawler or an agent that signs, as a decision knows it. */
export interface IdentifiedCrawler {
  readonly operator: string
  readonly name: string
  readonly purpose: string
  /** Says how the check of its claim ended. */
  readonly claim: string
  /** Names the proof: `signature`, `published range`, `reverse DNS` or the name of another check, else `claim` or `disproved`. */
  readonly proof: string
}

/** Identifies the crawler of a request; `undefined` when it claims to be none. A signature counts before a name. */
export function identifyCrawler({ inspection: { crawler, agent } }: Decision): IdentifiedCrawler | undefined {
  const isSigned = agent.identity?.type === 'signature'
  if (crawler === undefined && !isSigned) return undefined
  const signer = agent.ai?.name ?? agent.identity?.name ?? ''
  const isProven = isSigned && agent.identity?.verified === true
  return {
    operator: (isSigned ? agent.operator : crawler?.operator) ?? agent.ai?.vendor ?? crawler?.operator ?? signer,
    name: crawler?.name ?? signer,
    purpose: (isSigned ? agent.purpose : crawler?.purpose) ?? crawler?.purpose ?? '',
    claim: isSigned ? (isProven ? 'verified' : 'unverifiable') : (crawler?.outcome ?? ''),
    proof: isProven ? 'signature' : describeProof(crawler),
  }
}

function describeProof(crawler: Decision['inspection']['crawler']): string {
  if (crawler?.outcome === 'verified')
    return crawler.method === 'published ranges' ? 'published range' : (crawler.method ?? 'claim')
  return crawler?.outcome === 'spoofed' || crawler?.forged ? 'disproved' : 'claim'
}
