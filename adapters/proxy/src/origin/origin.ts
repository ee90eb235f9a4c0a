import type { Limits, Timeouts } from '@sallyport/engine/limits'
import { Slots } from '../bounds/slots.ts'
import { connectorTo, type OriginAddress, type OriginTrust } from './address.ts'
import { createOriginConnections } from './connections.ts'
import { type HealthOptions, startHealthChecks } from './health-checks.ts'
import { createMembers, type MembersOptions } from './members.ts'
import { type Forwarded, Relay, type RelayHooks } from './relay.ts'
import { HeldBytes } from './request-body.ts'

/** Sends requests to an origin, with a bound on the connections. */
export type Origin = ReturnType<typeof openOrigin>

export interface OriginOptions extends Omit<MembersOptions, 'clock'> {
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly trust?: OriginTrust | undefined
  /** Absent: servers are not checked, and are left out only after failures. */
  readonly health?: HealthOptions | undefined
}

/** Opens an origin of one or several servers, which take turns; the bound on connections holds for all servers together. */
export function openOrigin(addresses: readonly OriginAddress[], options: OriginOptions) {
  const { limits, timeouts, trust = {}, health } = options
  const headBytes = limits.originHeadBytes
  const servers = addresses.map((address) => ({
    address,
    connections: createOriginConnections(
      address.url,
      { max: limits.originConnections, headBytes },
      connectorTo(address, timeouts.originConnect, trust),
    ),
  }))
  const members = createMembers(servers, options)
  const stopChecks = health === undefined ? () => {} : startHealthChecks(members.all, health, trust, headBytes)
  const slots = new Slots({
    total: limits.originConnections,
    waiting: limits.originQueue,
    waitMs: timeouts.queue,
  })
  const parts = { slots, members, held: new HeldBytes(limits.bufferedBytes), limits }
  return {
    /**
     * Forwards a request once there is something to send, and streams the answer back. A failure before the answer has begun calls one
     * hook, once; a later failure destroys the client's connection, because a cut answer must not look complete. Never throws.
     */
    forward(forwarded: Forwarded, hooks: RelayHooks): void {
      new Relay(forwarded, parts, hooks).begin()
    },
    members,
    trust,
    /** Limits the head of an answer, in bytes. */
    headBytes,
    stopChecks,
    /** Cuts the connections; nothing may be forwarded after it. */
    async close(): Promise<void> {
      stopChecks()
      await Promise.all(servers.map(({ connections }) => connections.close()))
    },
    /** Counts requests that wait for a connection. */
    get queued(): number {
      return slots.load.waiting
    },
  }
}
