import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Timeouts } from '@sallyport/engine/limits'
import { isReset } from './reset.ts'
import { startTicks } from './ticks.ts'

/** `header` limits the wait for the first request, `keepAlive` the wait for each further request, while no stream is open. */
type SessionTimes = Pick<Timeouts, 'header' | 'keepAlive'>

/** Limits the wait for the last bytes of a connection that ends. */
const GOODBYE_MS = 1_000
/** A PING, and its answer, have so many bytes (RFC 9113 6.7). */
const PING_BYTES = 17

/** A session, and what the last check saw of it. */
class Seen {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  /** Counts the open streams. */
  streams = 0
  asked = false
  /** Milliseconds since a stream closed, or since the session began to end. */
  idle = 0
  ending = false
  /** Bytes received until the last check. */
  received = 0
  /** The bytes that had come when the session was last given a frame, plus the answers to PINGs. */
  known = 0
  /** Bytes written when the session was given a frame, until that frame is written. */
  given: number | undefined

  constructor(session: ServerHttp2Session, socket: Socket) {
    this.session = session
    this.socket = socket
  }

  opened(): void {
    this.streams++
    this.asked = true
  }

  closed(): void {
    this.streams--
    if (this.streams === 0) this.idle = 0
  }
}

/**
 * Creates the function that adds a session, and returns the counter of its streams. One timer watches all sessions, until their connections
 * are closed. It ends sessions without requests, sessions whose client has reset the connection, and sessions that neither read nor write:
 * nghttp2 is silent after an invalid frame, and Node then sees nothing that the client does, not even its leaving.
 */
export function watchSessions(times: () => SessionTimes) {
  const all = new Set<Seen>()
  let stop = (): void => {}
  const start = (): (() => void) => {
    const { header, keepAlive } = times()
    return startTicks([header, keepAlive], (elapsed) => {
      for (const seen of all) look(seen, elapsed, times())
    })
  }

  return (session: ServerHttp2Session, socket: Socket): Pick<Seen, 'opened' | 'closed'> => {
    const seen = new Seen(session, socket)
    if (all.size === 0) stop = start()
    all.add(seen)
    socket.once('close', () => {
      all.delete(seen)
      if (all.size === 0) stop()
    })
    return seen
  }
}

function look(seen: Seen, elapsed: number, { header, keepAlive }: SessionTimes): void {
  const { session, socket } = seen
  seen.idle += elapsed
  if (seen.ending) {
    // Node reads nothing while it writes: it never sees that a client reset the connection meanwhile.
    if (seen.idle >= GOODBYE_MS) destroy(seen)
  } else if (session.destroyed || (seen.streams === 0 && seen.idle >= (seen.asked ? keepAlive : header))) {
    session.close()
    seen.ending = true
    seen.idle = 0
  } else {
    const quiet = socket.bytesRead === seen.received
    seen.received = socket.bytesRead
    if (!quiet) return
    if (isReset(socket)) destroy(seen)
    else probe(seen)
  }
}

/** Gives a quiet session a frame, once after the client's last bytes. A live session has written the frame by the next check. */
function probe(seen: Seen): void {
  const { socket, received } = seen
  if (seen.given === undefined) {
    if (seen.known === received) return
    seen.known = received
    const written = socket.bytesWritten
    if (give(seen)) seen.given = written
  } else if (socket.bytesWritten !== seen.given) {
    seen.given = undefined
  } else if (!isWriting(socket)) {
    destroy(seen)
  }
}

/** Sends a PING, or to a session that ends, which Node gives no PING, another GOAWAY. Returns false where too many PINGs are unanswered. */
function give(seen: Seen): boolean {
  const { session } = seen
  if (!session.closed) {
    return session.ping((error) => {
      // Bytes after the PING may be the client's last ones.
      if (error === null) seen.known += PING_BYTES
    })
  }
  session.goaway()
  return true
}

/** Reports whether bytes wait for the client to take them; the clock of unread answers then counts. */
function isWriting(socket: Socket): boolean {
  // Node does not document this field; without it, the clocks of the requests decide.
  const { writeQueueSize = 1 } =
    (socket as { readonly _handle?: { readonly writeQueueSize?: number | undefined } | undefined })._handle ?? {}
  return writeQueueSize > 0
}

function destroy({ session, socket }: Seen): void {
  session.destroy()
  socket.destroy()
}
