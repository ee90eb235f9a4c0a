import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import type { CutCause } from './cut-causes.ts'
import { type SessionStreams, watchSessions } from './session-watch.ts'
import { StreamRequest } from './stream-request.ts'
import { isCut, StreamResponse } from './stream-response.ts'

/** Bytes of all fields of a request, as in HTTP/1. */
const MAX_FIELD_BYTES = 16_384
/** Bytes of an answer's head as it is sent, with what HTTP/2 adds to each field: more than any limit lets an origin send. */
const MAX_SENT_HEAD_BYTES = 4_194_304
/** Bytes of a body that a client may send before any of it is taken. */
const WINDOW_BYTES = 65_536
/** Streams of one connection, and what a client may assume before it has seen our SETTINGS (RFC 9113 6.5.2). */
const MAX_STREAMS = 100
/** Requests that a client takes back within `RESET_WINDOW_MS`; a browser that leaves a page takes back dozens. */
const MAX_RESETS = 200
const RESET_WINDOW_MS = 10_000
/** Streams of one connection beyond the limit. */
const MAX_BAD_STREAMS = 100
/** PINGs that a client has not answered yet: one that writes for long may read nothing until it has written all. */
const MAX_PINGS = 100
/** The largest number of a stream: a GOAWAY with it says that the connection will end, and takes no request back (RFC 9113 6.8). */
const LAST_STREAM = 2 ** 31 - 1
/**
 * Bad frames and streams of a trusted proxy's session, which carries many clients. nghttp2 drops a malformed request before the client
 * that its fields name is known, so nothing can be counted by client: each bad request ends its own stream alone.
 */
const UNBOUNDED = LAST_STREAM

export interface Http2SessionsOptions {
  readonly limits: () => Limits
  readonly timeouts: () => Timeouts
  readonly isTrusted: (peer: string) => boolean
  readonly onRequest: (request: StreamRequest, response: StreamResponse, waiting: boolean) => void
  readonly onCut: (cause: CutCause) => void
}

/** Connections that speak HTTP/2. */
export interface Http2Sessions {
  take(socket: TLSSocket): void
  /** Takes over the limits of now, for connections to come. */
  adopt(): void
  /** Tells all that they will end; what they ask is still answered. */
  announceEnd(): void
  /** Ends those without a stream now, and the others when their last stream has ended. */
  end(): void
}

export function createHttp2Sessions(options: Http2SessionsOptions): Http2Sessions {
  const { limits, timeouts, isTrusted, onRequest, onCut } = options
  const sessions = new Set<ServerHttp2Session>()
  const watch = watchSessions(timeouts)
  const create = (isFront: boolean): Http2Server => {
    const maxConcurrentStreams = Math.min(MAX_STREAMS, limits().inFlightPerClient)
    const server = createServer({
      // nghttp2 counts as invalid also a stream that a client opened before it had seen how many it may, and refuses that one alone.
      // The first other one that nghttp2 does not end the session for is answered on its stream; the next one ends it.
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

  /** Takes the requests of a session; each stream has one listener for its end. */
  const serve = (session: ServerHttp2Session, socket: TLSSocket, streams: SessionStreams): void => {
    // The session of a trusted proxy carries many clients: the requests that one takes back do not end those of the others.
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
      // The proxy answers CONNECT as any method that it does not serve.
      onRequest(request, new StreamResponse(request, onEnd), headers.expect === '100-continue')
    })
  }

  return {
    take(socket) {
      // A client that ends its half has left. Streams in flight would wait for it, and its connection with them.
      socket.allowHalfOpen = false
      const begin = (session: ServerHttp2Session): void => serve(session, socket, watch.add(session, socket))
      const server = isTrusted(socket.remoteAddress ?? '') ? servers.ofFronts : servers.ofClients
      // Node makes the session before it returns.
      server.once('session', begin).emit('connection', socket)
      server.off('session', begin)
    },
    adopt() {
      servers = createBoth()
    },
    announceEnd() {
      for (const session of sessions) {
        // One that failed has not closed yet.
        if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM)
      }
    },
    end() {
      for (const session of sessions) session.close()
    },
  }
}

/** Counts requests that were taken back before they were answered (CVE-2023-44487), at the end of each stream. */
function countResets(onTooMany: () => void): (stream: ServerHttp2Stream) => void {
  let [resets, since] = [0, 0]
  return (stream) => {
    // Node ends a HEAD's answer at once, and calls it aborted never. An answer that its origin breaks off is no client's doing.
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
