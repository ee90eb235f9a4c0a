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

/** The origin, with a bound on the connections to it. */
export interface Origin {
  /**
   * Sends a request on, once there is something to send, and streams the answer back. A failure before anything of the answer
   * was sent calls one of the hooks, once; a later one destroys the client's connection, because a cut answer must not look
   * whole. Never throws.
   */
  forward(forwarded: Forwarded, hooks: RelayHooks): void
  /** Asks no server how it is any more. */
  stopChecks(): void
  /** Cuts the connections; nothing may be forwarded after it. */
  close(): Promise<void>
  /** Requests that wait for a connection. */
  readonly queued: number
  readonly members: Members
  readonly trust: OriginTrust
  /** Bytes that the head of an answer may have. */
  readonly headBytes: number
}

export interface OriginOptions {
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly trust?: OriginTrust | undefined
  /** Absent: a server is only left out where it has failed. */
  readonly health?: HealthOptions | undefined
  readonly onNotice?: ((message: string) => void) | undefined
  readonly turns?: OriginTurns | undefined
}

/** Opens an origin of one server or several, which take turns; a bound on connections holds for all of them together. */
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
