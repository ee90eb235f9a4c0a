import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { EdgeOptions } from './edge-options.ts'
import { watchSessions } from './session-watch.ts'
import { StreamRequest } from './stream-request.ts'
import { isCut, StreamResponse } from './stream-response.ts'

/** Limits all fields of a request, in bytes, as in HTTP/1. */
const MAX_FIELD_BYTES = 16_384
/** Limits an answer's head as it is sent, in bytes, with the overhead of HTTP/2 for each field: no limit lets an origin send more. */
const MAX_SENT_HEAD_BYTES = 4_194_304
/** Limits the bytes of a body that a client may send before we read any. */
const WINDOW_BYTES = 65_536
/** Limits the streams of one connection; a client may assume so many before it has seen our SETTINGS (RFC 9113 6.5.2). */
const MAX_STREAMS = 100
/** Limits the requests that a client cancels within `RESET_WINDOW_MS`; a browser that leaves a page cancels dozens. */
const MAX_RESETS = 200
const RESET_WINDOW_MS = 10_000
/** A connection may open so many streams beyond the limit. */
const MAX_BAD_STREAMS = 100
/** Limits the PINGs without an answer: a client that writes for long may read nothing until it has written all. */
const MAX_PINGS = 100
/** The largest number of a stream: a GOAWAY with it says that the connection will end, and cancels no request (RFC 9113 6.8). */
const LAST_STREAM = 2 ** 31 - 1
/**
 * Bad frames and streams of a trusted proxy's session have no bound, because the session carries many clients. nghttp2 drops a malformed
 * request before its fields name the client, so each bad request ends only its own stream.
 */
const UNBOUNDED = LAST_STREAM

/** Serves connections that speak HTTP/2. */
export function createHttp2Sessions({ limits, timeouts, isTrusted, onHttp2, onCut }: EdgeOptions) {
  const sessions = new Set<ServerHttp2Session>()
  const watch = watchSessions(timeouts)
  const create = (isFront: boolean): Http2Server => {
    const maxConcurrentStreams = Math.min(MAX_STREAMS, limits().inFlightPerClient)
    const server = createServer({
      // nghttp2 also counts a stream as invalid that a client opened before it had seen the limit, and refuses only that stream. The first
      // other invalid frame that does not end the session is answered on its stream; the next one ends the session.
      maxSessionInvalidFrames: isFront ? UNBOUNDED : MAX_STREAMS - maxConcurrentStreams,
      maxSessionRejectedStreams: isFront ? UNBOUNDED : MAX_BAD_STREAMS,
      maxSendHeaderBlockLength: MAX_SENT_HEAD_BYTES,
      maxOutstandingPings: MAX_PINGS,
      settings: {
        maxConcurrentStreams,
        maxHeaderListSize: MAX_FIELD_BYTES,
        initialWindowSize: WINDOW_BYTES,
        enablePush: false,
      },
    })
    server.on('sessionError', (_, session) => session.destroy())
    server.on('session', (session: ServerHttp2Session) => {
      sessions.add(session)
      session.once('close', () => sessions.delete(session))
    })
    return server
  }
  const createBoth = () => ({ ofFronts: create(true), ofClients: create(false) })
  let servers = createBoth()

  /** Serves the requests of a session; one listener hears the end of each stream. */
  const serve = (session: ServerHttp2Session, socket: TLSSocket): void => {
    const streams = watch(session, socket)
    // A trusted proxy's session carries many clients: the requests that one client cancels do not end the requests of others.
    const noteEnd = countResets(() => {
      if (isTrusted(socket.remoteAddress ?? '')) return
      onCut('http2_resets')
      session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    })
    const onEnd = (stream: ServerHttp2Stream): void => {
      streams.closed()
      noteEnd(stream)
    }
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, raw: string[]) => {
      streams.opened()
      const request = new StreamRequest(stream, headers, raw, socket)
      // The proxy answers CONNECT like any other method that it does not serve.
      onHttp2(request, new StreamResponse(request, onEnd), headers.expect === '100-continue')
    })
  }

  return {
    take(socket: TLSSocket): void {
      // A client that ends its half has left. Streams in flight would wait for it, and its connection with them.
      socket.allowHalfOpen = false
      const begin = (session: ServerHttp2Session): void => serve(session, socket)
      const server = isTrusted(socket.remoteAddress ?? '') ? servers.ofFronts : servers.ofClients
      // Node creates the session before it returns.
      server.once('session', begin).emit('connection', socket)
      server.off('session', begin)
    },
    /** Takes over the current limits for new connections. */
    adopt(): void {
      servers = createBoth()
    },
    /** Announces to all clients that their sessions will end; their requests are still answered. */
    announceEnd(): void {
      for (const session of sessions) {
        // A failed session has not closed yet.
        if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM)
      }
    },
    /** Ends sessions without a stream now, and the others when their last stream has ended. */
    end(): void {
      for (const session of sessions) session.close()
    },
  }
}

/** Counts requests that a client cancels before their answer (CVE-2023-44487), at the end of each stream. */
function countResets(onTooMany: () => void): (stream: ServerHttp2Stream) => void {
  let [resets, since] = [0, 0]
  return (stream) => {
    // Node ends a HEAD's answer at once, and never calls it aborted. A client is not to blame for an answer that its origin breaks off.
    if (isCut(stream) || (!stream.aborted && stream.headersSent)) return
    const now = performance.now()
    if (now - since > RESET_WINDOW_MS) {
      resets = 0
      since = now
    }
    resets++
    if (resets === MAX_RESETS + 1) onTooMany()
  }
}
