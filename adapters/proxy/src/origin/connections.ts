import type { Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { OriginConnection } from './connection.ts'

/** Holds the connections to one origin. A request with a connection also has a slot; there are as many slots as connections. */
export type OriginConnections = ReturnType<typeof createOriginConnections>

/** Many servers close an idle connection after five seconds: this is less. */
const KEEP_ALIVE_MS = 4_000
/** An origin that closes after its answer without saying so closes within this time. */
const CLOSES_WITHIN_MS = 100

const OPTIONS: Client.Options = {
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  // The exchange has clocks of its own, which know the side that they wait for.
  headersTimeout: 0,
  bodyTimeout: 0,
}

/** Creates the connections of an origin; opens none before the first request. */
export function createOriginConnections(
  upstream: URL,
  { max, headBytes }: { readonly max: number; readonly headBytes: number },
  connect: buildConnector.connector,
) {
  const all = new Set<OriginConnection>()
  /** Holds idle connections, with the last used at the end, which the origin is least likely to close now. */
  const idle: OriginConnection[] = []
  const owned = createOwned(remove)
  let kept = false
  let isLooking = false

  /**
   * Records that the origin keeps connections if this connection is still open two turns of the event loop later: by then Node has read an
   * end that came while this process stood still, which the clock alone would not reveal.
   */
  function look(oldest: OriginConnection): void {
    const { answeredSince } = oldest
    isLooking = true
    const finishLook = (): void => {
      isLooking = false
      kept = oldest.answered > 0 && oldest.answeredSince === answeredSince
    }
    setImmediate(() => setImmediate(finishLook))
  }

  function remove(connection: OriginConnection): void {
    all.delete(connection)
    void connection.destroy()
  }

  function create(): OriginConnection {
    if (all.size >= max) owned.removeOldest()
    const connection = new OriginConnection(upstream, { ...OPTIONS, maxHeaderSize: headBytes }, connect, () => {
      if (connection.answered > 0 && performance.now() - connection.idleSince < CLOSES_WITHIN_MS) kept = false
    })
    all.add(connection)
    return connection
  }

  /** Takes a connection that has carried no request yet. */
  function takeFresh(): OriginConnection {
    const at = idle.findIndex(({ answered }) => answered === 0)
    if (at >= 0) return idle.splice(at, 1)[0] as OriginConnection
    // The oldest connection stays: it shows whether the origin keeps it.
    const newest = all.size < max ? undefined : idle.pop()
    if (newest) remove(newest)
    return create()
  }

  return {
    /** Takes a free connection, which may have been used. */
    take: (): OriginConnection => idle.pop() ?? create(),
    takeFresh,
    /** Reports whether the origin is known to keep a connection after an answer. */
    isKept(): boolean {
      const [oldest] = idle
      const isOld = oldest && oldest.answered > 0 && performance.now() - oldest.answeredSince > CLOSES_WITHIN_MS
      if (!kept && !isLooking && isOld) look(oldest)
      return kept
    },
    /** Takes the connection that belongs to a client's connection. */
    takeOwn: (owner: Socket | undefined) => owner && owned.take(owner),
    /** Reports whether a client's connection owns a free connection. */
    hasOwn: (owner: Socket | undefined) => owner !== undefined && owned.has(owner),
    /** Returns a connection. An authenticated connection is kept for its owner alone; without an owner it is closed. */
    giveBack(connection: OriginConnection, owner: Socket | undefined): void {
      connection.done()
      if (!connection.isAuthenticated) idle.push(connection)
      else if (owner === undefined || owner.destroyed) remove(connection)
      else owned.keep(owner, connection)
    },
    async close(): Promise<void> {
      await Promise.all([...all].map((connection) => connection.destroy()))
    },
  }
}

/** Keeps idle connections that the origin has authenticated, by the client's connection; the last used is at the end. */
function createOwned(remove: (connection: OriginConnection) => void) {
  const owned = new Map<Socket, OriginConnection>()

  function take(owner: Socket): OriginConnection | undefined {
    const connection = owned.get(owner)
    if (connection === undefined) return undefined
    owned.delete(owner)
    owner.off('close', connection.onOwnerClosed)
    return connection
  }

  function removeOwned(owner: Socket | undefined): void {
    const connection = owner && take(owner)
    if (connection) remove(connection)
  }

  return {
    take,
    has: (owner: Socket) => owned.has(owner),
    keep(owner: Socket, connection: OriginConnection): void {
      removeOwned(owner)
      connection.onOwnerClosed = () => {
        owned.delete(owner)
        remove(connection)
      }
      owner.once('close', connection.onOwnerClosed)
      owned.set(owner, connection)
    },
    removeOldest(): void {
      const [oldest] = owned.keys()
      removeOwned(oldest)
    },
  }
}
