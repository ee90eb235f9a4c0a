import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import type { CutCause } from './cut-causes.ts'
import { asHttp1, StreamRequest, StreamResponse } from './http2-messages.ts'
import { watchSessions } from './session-watch.ts'

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

export interface Http2SessionsOptions {
  readonly limits: () => Limits
  readonly timeouts: () => Timeouts
  readonly onRequest: (request: IncomingMessage, response: ServerResponse, waiting: boolean) => void
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

export function createHttp2Sessions({ limits, timeouts, onRequest, onCut }: Http2SessionsOptions): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>()
  const watch = watchSessions(timeouts)
  const create = (): Http2Server => {
    const maxConcurrentStreams = Math.min(MAX_STREAMS, limits().inFlightPerClient)
    const server = createServer({
      Http2ServerRequest: StreamRequest,
      Http2ServerResponse: StreamResponse as never,
      // nghttp2 counts as invalid also a stream that a client opened before it had seen how many it may, and refuses that one alone
      // (D330). Of others the first that nghttp2 does not end the session for itself is answered on its stream; the next one ends it.
      maxSessionInvalidFrames: MAX_STREAMS - maxConcurrentStreams,
      maxSessionRejectedStreams: MAX_BAD_STREAMS,
      maxSendHeaderBlockLength: MAX_SENT_HEAD_BYTES,
      maxOutstandingPings: MAX_PINGS,
      settings: {
        maxConcurrentStreams,
        maxHeaderListSize: MAX_FIELD_BYTES,
        initialWindowSize: WINDOW_BYTES,
        enablePush: false,
      },
    })
    // A CONNECT is answered as any method that is not served (D138).
    for (const event of ['request', 'checkContinue', 'checkExpectation', 'connect'] as const) {
      server.on(event, (request: StreamRequest, response: StreamResponse) => {
        // A stream that fails has failed for its client; unheard, the error would end the process.
        request.on('error', () => {})
        onRequest(...asHttp1(request, response), event === 'checkContinue')
      })
    }
    server.on('sessionError', (_, session) => session.destroy())
    server.on('session', (session: ServerHttp2Session) => {
      sessions.add(session)
      watchResets(session, () => {
        onCut('http2_resets')
        session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
      })
      session.once('close', () => sessions.delete(session))
    })
    return server
  }
  let server = create()

  return {
    take(socket) {
      // A client that ends its half has left. Streams in flight would wait for it, and its connection with them.
      socket.allowHalfOpen = false
      const begin = (session: ServerHttp2Session): void => watch.add(session, socket)
      // Node makes the session before it returns.
      server.once('session', begin).emit('connection', socket)
      server.off('session', begin)
    },
    adopt() {
      server = create()
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

/** Counts requests that were taken back before they were answered (CVE-2023-44487). */
function watchResets(session: ServerHttp2Session, onTooMany: () => void): void {
  let [resets, since] = [0, 0]
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('close', () => {
      // Node ends a HEAD's answer at once, and calls it aborted never.
      if (!stream.aborted && stream.headersSent) return
      const now = performance.now()
      if (now - since > RESET_WINDOW_MS) {
        resets = 0
        since = now
      }
      resets++
      if (resets === MAX_RESETS + 1) onTooMany()
    })
  })
}
