import type { Clock } from '../../ports/index.ts'
import type { KeyDirectories } from './directory.ts'
import type { SignatureFinding } from './finding.ts'
import { type About, faultOf, faultWithKey, invalid, proven } from './judged.ts'
import type { KeySource } from './key-source.ts'
import type { SentSignature, SignedRequest } from './message.ts'
import { paymentFault } from './payment-profile.ts'
import type { ReplayMemory } from './replay.ts'

export interface PaymentJudgeOptions {
  readonly clock: Clock
  readonly directories: KeyDirectories
  readonly replay: ReplayMemory
  /** Sources of the keys of the networks' agents. */
  readonly networks: readonly KeySource[]
}

/**
 * Judges a signature of an agent of a payment network, which names its key alone: no forgery follows from what no
 * network knows.
 */
export function createPaymentJudge({ clock, directories, replay, networks }: PaymentJudgeOptions) {
  // Their first signed request finds the keys.
  for (const source of networks) directories.find(source, '', true)
  return (sent: SentSignature, purpose: string, request: SignedRequest, real: boolean): SignatureFinding => {
    const fault = faultOf(sent, clock.now() / 1000) ?? paymentFault(sent)
    if (fault !== undefined) return invalid(fault)
    let known = true
    let refused: SignatureFinding | undefined
    for (const source of networks) {
      const found = directories.find(source, String(sent.parameters.get('keyid')), real)
      known &&= found.state !== 'unknown'
      if (found.state !== 'found') continue
      const about: About = { agent: source.identifier, keyId: found.key.id }
      const now = clock.now()
      const wrong = faultWithKey(found.key, sent, request, about, now)
      // The networks' own examples sign the query as part of the path, which RFC 9421 does not.
      const whole = { ...request, pathWithQuery: true } as const
      if (wrong !== undefined && faultWithKey(found.key, sent, whole, about, now) !== undefined) {
        // Another network may call a key of its own the same.
        refused ??= { ...wrong, forged: false }
        continue
      }
      const finding = proven(sent, about, replay, real ? now : undefined)
      return finding.outcome === 'verified'
        ? { ...finding, detail: `Signed ${purpose}, by an agent of ${about.agent}.` }
        : finding
    }
    if (refused !== undefined) return refused
    const why = known
      ? 'no payment network that is trusted here has such a key'
      : 'the keys of payment networks are not known yet'
    return { outcome: 'unverified', forged: false, detail: `The signature could not be verified: ${why}.` }
  }
}
