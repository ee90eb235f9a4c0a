import type { NetworkFinding } from '../values/finding.ts'

/**
 * Names iCloud Private Relay as a provider. Its class is `vpn`, because it hides where the visitor is. It is distinguished, because it
 * hides people and not machines: its risk is capped, and a policy can name it.
 */
export const PRIVATE_RELAY = 'iCloud Private Relay'

/** Reports whether a finding is about a private relay's own ranges. */
export function isPrivateRelay({ verdict, provider }: NetworkFinding): boolean {
  return verdict.classification === 'vpn' && provider === PRIVATE_RELAY
}
