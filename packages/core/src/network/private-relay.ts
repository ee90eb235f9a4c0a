import type { NetworkFinding } from '../values/finding.ts'

/**
 * The provider name of iCloud Private Relay: class `vpn`, because it hides where the visitor is, and distinguished, because
 * it hides people and not machines: its risk is capped, and a policy can name it.
 */
export const PRIVATE_RELAY = 'iCloud Private Relay'

/** Whether a finding is of a private relay's own ranges. */
export function isPrivateRelay({ verdict, provider }: NetworkFinding): boolean {
  return verdict.classification === 'vpn' && provider === PRIVATE_RELAY
}
