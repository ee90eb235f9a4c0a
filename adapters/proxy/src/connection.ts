import { type buildConnector, Client, type Dispatcher } from 'undici'

/** A request whose answer can be resumed by its connection. */
export interface Releasable extends Dispatcher.DispatchOptions {
  /** Resumes a paused answer. */
  readonly release: () => void
}

/**
 * One connection to the origin, with one request at a time. undici's HTTP/1 parser crashes the process where a connection
 * ends while it is paused (nodejs/undici issue 5360, not fixed in any release for Node 20), as it is whenever a client
 * reads slower than its origin sends. So a paused answer is resumed before undici sees the end, and its rest, which was
 * received already, waits in memory. A reset gets another error code, because undici takes ECONNRESET for the end of an
 * answer.
 */
export class Connection extends Client {
  #release = (): void => {}

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    super(origin, {
      ...options,
      connect: (to, done) =>
        connect(to, (...result) => {
          const [, socket] = result
          // These run before undici's own listeners, which it adds once it has the socket.
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
