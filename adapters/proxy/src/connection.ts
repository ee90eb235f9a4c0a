import { type buildConnector, Client, type Dispatcher } from 'undici'

/** A request of which the one who sends it can be told to take the rest of the answer now. */
export interface Releasable extends Dispatcher.DispatchOptions {
  /** Ends a pause of the answer, where there is one. */
  readonly release: () => void
}

/**
 * One connection to the origin, with one request at a time. undici's HTTP/1 parser ends the whole process where a
 * connection ends while it is paused (nodejs/undici issue 5360, not fixed in any release for Node 20), which is whenever
 * a client reads slower than its origin sends. So a pause ends before undici hears of an end, and what is left of the
 * answer, which was read already, waits in memory. A reset is told under another name than the one that makes undici
 * take it for the end of an answer: cut off is not whole.
 */
export class Connection extends Client {
  #release = (): void => {}

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    super(origin, {
      ...options,
      connect: (to, done) =>
        connect(to, (...result) => {
          const [, socket] = result
          // Both are heard before undici's own listeners, which are added when it is handed the socket.
          socket?.on('end', () => this.#release())
          socket?.on('error', (error) => {
            if ('code' in error && error.code === 'ECONNRESET') error.code = RESET
          })
          done(...result)
        }),
    })
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (isReleasable(options)) this.#release = options.release
    return super.dispatch(options, handler)
  }
}

/** Code of a connection that the origin reset. */
export const RESET = 'SALLYPORT_RESET'

function isReleasable(options: Dispatcher.DispatchOptions): options is Releasable {
  return 'release' in options
}
