import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { isReset } from './reset.ts'

/** Milliseconds. */
export interface SessionTimes {
  /** For the first request. */
  readonly header: number
  /** For each next one, once nothing is asked. */
  readonly keepAlive: number
}

/** Looks at sessions until their connections are closed. */
export interface SessionWatch {
  /** Returns what counts its streams. */
  add(session: ServerHttp2Session, socket: Socket): SessionStreams
}

/** The streams of one session, counted. */
export interface SessionStreams {
  opened(): void
  closed(): void
}

/** For the last bytes of a connection that ends. */
const GOODBYE_MS = 1_000
/** How finely the shortest time is measured, and how often everything is looked at. */
const STEPS = 4
const MIN_INTERVAL_MS = 10
const MAX_INTERVAL_MS = 1_000
/** A PING, and its answer (RFC 9113 6.7). */
const PING_BYTES = 17

/** A session, and what was seen of it when it was looked at last. */
interface Seen {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  /** Streams that are open. */
  streams: number
  asked: boolean
  /** Milliseconds since a stream was closed, or since it began to end. */
  idle: number
  ending: boolean
  /** Bytes received, by when it was looked at last. */
  received: number
  /** The part of them that had come when it was last given a frame, and the answers to PINGs. */
  known: number
  /** Bytes written when it was given a frame, until that is written. */
  given: number | undefined
}

/**
 * Looks at all sessions now and then, in place of a timer for each, until their connections are closed. It ends those on which
 * nothing is asked, those whose client has reset its connection, and those that neither read nor write any more: nghttp2 is
 * silent after an invalid frame, and whatever the client does then, even that it leaves, is never seen.
 */
export function watchSessions(times: () => SessionTimes): SessionWatch {
  const all = new Set<Seen>()
  let timer: NodeJS.Timeout | undefined

  const start = (): void => {
    const { header, keepAlive } = times()
    const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.min(header, keepAlive) / STEPS))
    let last = performance.now()
    timer = setInterval(() => {
      const now = performance.now()
      // A process that stood still has not waited for anybody.
      const elapsed = Math.min(now - last, 2 * interval)
      last = now
      for (const seen of all) look(seen, elapsed, times())
    }, interval).unref()
  }

  return {
    add(session, socket) {
      const seen: Seen = {
        session,
        socket,
        streams: 0,
        asked: false,
        idle: 0,
        ending: false,
        received: 0,
        known: 0,
        given: undefined,
      }
      if (all.size === 0) start()
      all.add(seen)
      socket.once('close', () => {
        all.delete(seen)
        if (all.size === 0) clearInterval(timer)
      })
      return {
        opened() {
          seen.streams++
          seen.asked = true
        },
        closed() {
          seen.streams--
          if (seen.streams === 0) seen.idle = 0
        },
      }
    },
  }
}

function look(seen: Seen, elapsed: number, { header, keepAlive }: SessionTimes): void {
  const { session, socket } = seen
  seen.idle += elapsed
  if (seen.ending) {
    // Node reads nothing while it writes: a client that reset the connection then is never seen to be gone.
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

/** Gives a session that is quiet a frame, once since the client's last bytes. One that is alive has written it when it is looked at again. */
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

/** A PING; one that ends, which Node gives none, says once more that it does. False where too many are unanswered. */
function give(seen: Seen): boolean {
  const { session } = seen
  if (!session.closed) {
    return session.ping((error) => {
      // Bytes that came behind it may be the client's last ones.
      if (error === null) seen.known += PING_BYTES
    })
  }
  session.goaway()
  return true
}

/** Whether bytes wait for the client to take them; its clock is that of an unread answer. */
function isWriting(socket: Socket): boolean {
  // Not documented; where it is gone, the clocks of the requests decide.
  const { writeQueueSize = 1 } =
    (socket as { readonly _handle?: { readonly writeQueueSize?: number | undefined } | undefined })._handle ?? {}
  return writeQueueSize > 0
}

function destroy({ session, socket }: Seen): void {
  session.destroy()
  socket.destroy()
}
