import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Limits, Timeouts } from '@sallyport/open/limits'
import type { CutCause } from './cut-causes.ts'
import { asHttp1, StreamRequest, StreamResponse } from './http2-messages.ts'

/** Of all fields of a request, as in HTTP/1. */
const MAX_FIELD_BYTES = 16_384
/** What a client may send of a body before any of it is taken. */
const WINDOW_BYTES = 65_536
/** Streams of one connection; a page has fewer parts. */
const MAX_STREAMS = 100
/** Requests that a client takes back within `RESET_WINDOW_MS`; a browser that leaves a page takes back dozens. */
const MAX_RESETS = 200
const RESET_WINDOW_MS = 10_000
/** Frames that are no HTTP/2, and streams beyond the limit, of one connection. */
const MAX_BAD_FRAMES = 100
/** For the last bytes of a connection on which nothing is asked. */
const GOODBYE_MS = 1_000
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
  const server = createServer({
    Http2ServerRequest: StreamRequest,
    Http2ServerResponse: StreamResponse as never,
    maxSessionInvalidFrames: MAX_BAD_FRAMES,
    maxSessionRejectedStreams: MAX_BAD_FRAMES,
    settings: {
      maxHeaderListSize: MAX_FIELD_BYTES,
      initialWindowSize: WINDOW_BYTES,
      enablePush: false,
    },
  })
  // A CONNECT is answered as any method that is not served.
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

  return {
    take(socket) {
      // A client that ends its half has left. Streams in flight would wait for it, and its connection with them.
      socket.allowHalfOpen = false
      const watch = (session: ServerHttp2Session): void => watchIdle(session, socket, timeouts)
      // Node makes the session before it returns.
      server.once('session', watch).emit('connection', socket)
      server.off('session', watch)
    },
    adopt() {
      server.updateSettings({ maxConcurrentStreams: Math.min(MAX_STREAMS, limits().inFlightPerClient) })
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

/** Ends a connection on which nothing is asked: the first request has as long as a head has, each next one `keepAlive`. */
function watchIdle(session: ServerHttp2Session, socket: TLSSocket, timeouts: () => Timeouts): void {
  let open = 0
  const end = (): void => {
    session.close()
    // Node reads nothing while it writes: a client that reset the connection then is never seen to be gone.
    setTimeout(() => socket.destroy(), GOODBYE_MS).unref()
  }
  const startClock = (time: number): NodeJS.Timeout => setTimeout(end, time).unref()
  let clock = startClock(timeouts().header)
  session.on('stream', (stream: ServerHttp2Stream) => {
    clearTimeout(clock)
    open++
    stream.once('close', () => {
      open--
      if (open === 0 && !session.closed) clock = startClock(timeouts().keepAlive)
    })
  })
  session.once('close', () => clearTimeout(clock))
}

/** Counts requests that were taken back before they were answered (CVE-2023-44487). */
function watchResets(session: ServerHttp2Session, onTooMany: () => void): void {
  let [resets, since] = [0, 0]
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('aborted', () => {
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
