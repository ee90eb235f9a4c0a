import type { Limits, Timeouts } from '@sallyport/engine/limits'
import { Slots } from '../bounds/slots.ts'
import type { OriginAddress } from './address.ts'
import { createOriginConnections } from './connections.ts'
import { type HealthOptions, startHealthChecks } from './health-checks.ts'
import { createMembers, type Members } from './members.ts'
import { type Forwarded, Relay, type RelayHooks } from './relay.ts'
import { HeldBytes } from './request-body.ts'
import { connectorTo, type OriginTrust } from './trust.ts'
import type { OriginTurns } from './turns.ts'

/** Sends requests to an origin, with a bound on the connections. */
export interface Origin {
  /**
   * Forwards a request once there is something to send, and streams the answer back. A failure before the answer has begun calls one hook,
   * once; a later failure destroys the client's connection, because a cut answer must not look complete. Never throws.
   */
  forward(forwarded: Forwarded, hooks: RelayHooks): void
  /** Stops the health checks. */
  stopChecks(): void
  /** Cuts the connections; nothing may be forwarded after it. */
  close(): Promise<void>
  /** Counts requests that wait for a connection. */
  readonly queued: number
  readonly members: Members
  readonly trust: OriginTrust
  /** Limits the head of an answer, in bytes. */
  readonly headBytes: number
}

export interface OriginOptions {
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly trust?: OriginTrust | undefined
  /** Absent: servers are not checked, and are left out only after failures. */
  readonly health?: HealthOptions | undefined
  readonly onNotice?: ((message: string) => void) | undefined
  readonly turns?: OriginTurns | undefined
}

/** Opens an origin of one or several servers, which take turns; the bound on connections holds for all servers together. */
export function openOrigin(addresses: readonly OriginAddress[], options: OriginOptions): Origin {
  const { limits, timeouts, trust = {}, health, onNotice, turns } = options
  const headBytes = limits.originHeadBytes
  const servers = addresses.map((address) => ({
    address,
    connections: createOriginConnections(
      address.url,
      { max: limits.originConnections, headBytes },
      connectorTo(address, timeouts.originConnect, trust),
    ),
  }))
  const members = createMembers(servers, { onNotice, turns })
  const stopChecks = health === undefined ? () => {} : startHealthChecks(members.all, health, { trust, headBytes })
  const close = async (): Promise<void> => {
    stopChecks()
    await Promise.all(servers.map(({ connections }) => connections.close()))
  }
  const slots = new Slots({
    total: limits.originConnections,
    waiting: limits.originQueue,
    waitMs: timeouts.queue,
  })
  const held = new HeldBytes(limits.bufferedBytes)
  const parts = { slots, members, held, limits }
  return {
    forward(forwarded, hooks) {
      new Relay(forwarded, parts, hooks).begin()
    },
    members,
    trust,
    headBytes,
    stopChecks,
    close,
    get queued() {
      return slots.load.waiting
    },
  }
}
