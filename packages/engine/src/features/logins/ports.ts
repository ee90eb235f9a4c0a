import type { Clock, Decision, Dns, InspectionRequest, Observe, Snapshots } from '@sallyport/core'
import type { MailDomains } from '#datasets/service'
import type { EventRules } from './event-rules.ts'

/** Parts of a service that the protection of accounts uses. */
export interface ProtectionPorts {
  readonly clock: Clock
  readonly snapshots: Snapshots
  /** The inspection judges by the configuration in force. */
  readonly inspection: { readonly events: EventRules; decide(request: InspectionRequest): Decision }
  /** Lists of domains that give throwaway mail, read when they are first asked for. */
  readonly throwaway: () => MailDomains | undefined
  readonly dns: Dns
  readonly observe: Observe
  readonly onFault: (error: unknown) => void
}
