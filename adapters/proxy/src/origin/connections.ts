import type { Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { OriginConnection } from './connection.ts'

/** The connections to one origin. A request that has one has a slot too, of which there are as many. */
export interface OriginConnections {
  /** A connection that nobody has and that may have been used. */
  take(): OriginConnection
  /** One that has carried no request yet. */
  takeFresh(): OriginConnection
  /** The connection that belongs to a client's connection. */
  takeOwn(owner: Socket | undefined): OriginConnection | undefined
  /** Whether a client's connection has one of its own that nobody uses. */
  hasOwn(owner: Socket | undefined): boolean
  /** An authenticated connection is kept for its owner alone; without an owner it is closed. */
  giveBack(connection: OriginConnection, owner: Socket | undefined): void
  /** Whether the origin is known to keep a connection after an answer. */
  isKept(): boolean
  close(): Promise<void>
}

/** Less than the five seconds after which many servers close an idle connection. */
const KEEP_ALIVE_MS = 4_000
/** An origin that closes after its answer without saying so does it within this time. */
const CLOSES_WITHIN_MS = 100

/** Opens no connection before the first request. */
export function createOriginConnections(
  upstream: URL,
  { max, headBytes }: { readonly max: number; readonly headBytes: number },
  connect: buildConnector.connector,
): OriginConnections {
  const all = new Set<OriginConnection>()
  /** Connections with the last used one at the end, which the origin is least likely to close now. */
  const idle: OriginConnection[] = []
  /** Idle connections that the origin has authenticated, by the client's connection; the last used at the end. */
  const owned = new Map<Socket, OriginConnection>()
  let kept = false
  let isLooking = false

  /**
   * Takes the origin for one that keeps connections if this one is still open two turns of the event loop later: by then an end that
   * came while this process stood still has been read, and the clock alone would not know of it.
   */
  function look(oldest: OriginConnection): void {
    const { answeredSince } = oldest
    isLooking = true
    const seen = (): void => {
      isLooking = false
      kept = oldest.answered > 0 && oldest.answeredSince === answeredSince
    }
    setImmediate(() => setImmediate(seen))
  }

  function remove(connection: OriginConnection): void {
    all.delete(connection)
    void connection.destroy()
  }

  function takeOwn(owner: Socket): OriginConnection | undefined {
    const connection = owned.get(owner)
    if (connection === undefined) return undefined
    owned.delete(owner)
    owner.off('close', connection.onOwnerClosed)
    return connection
  }

  function keepFor(owner: Socket, connection: OriginConnection): void {
    const other = takeOwn(owner)
    if (other) remove(other)
    connection.onOwnerClosed = () => {
      owned.delete(owner)
      remove(connection)
    }
    owner.once('close', connection.onOwnerClosed)
    owned.set(owner, connection)
  }

  function create(): OriginConnection {
    if (all.size >= max) {
      const [oldest] = owned.keys()
      const longestIdle = oldest && takeOwn(oldest)
      if (longestIdle) remove(longestIdle)
    }
    const options: Client.Options = {
      pipelining: 1,
      maxHeaderSize: headBytes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // The exchange has clocks of its own, which know whom they wait for.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    const connection = new OriginConnection(upstream, options, connect, () => {
      if (connection.answered > 0 && performance.now() - connection.idleSince < CLOSES_WITHIN_MS) kept = false
    })
    all.add(connection)
    return connection
  }

  function takeFresh(): OriginConnection {
    const at = idle.findIndex(({ answered }) => answered === 0)
    if (at >= 0) return idle.splice(at, 1)[0] as OriginConnection
    // The oldest stays: it shows whether the origin keeps it.
    const newest = all.size < max ? undefined : idle.pop()
    if (newest) remove(newest)
    return create()
  }

  return {
    take: () => idle.pop() ?? create(),
    takeFresh,
    isKept() {
      const [oldest] = idle
      const isOld = oldest && oldest.answered > 0 && performance.now() - oldest.answeredSince > CLOSES_WITHIN_MS
      if (!kept && !isLooking && isOld) look(oldest)
      return kept
    },
    takeOwn: (owner) => owner && takeOwn(owner),
    hasOwn: (owner) => owner !== undefined && owned.has(owner),
    giveBack(connection, owner) {
      connection.done()
      if (!connection.isAuthenticated) idle.push(connection)
      else if (owner === undefined || owner.destroyed) remove(connection)
      else keepFor(owner, connection)
    },
    async close() {
      await Promise.all([...all].map((connection) => connection.destroy()))
    },
  }
}
