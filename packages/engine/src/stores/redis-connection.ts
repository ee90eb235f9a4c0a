import { SallyportError } from '@sallyport/core'
import { connectionReason } from '#files'
import { loadInstalled } from './load-installed.ts'

const CONNECT_MS = 1_000
const MIN_RECONNECT_MS = 50
const MAX_RECONNECT_MS = 1_000

/** A ping checks the server this often. */
const PING_MS = 1_000

/** Pings without an answer, after which the connection is replaced. */
const MAX_SILENT_PINGS = 3

/** Longest silence of a connection on which nothing is sent; what is sent starts it again, hence the pings. */
const SILENCE_MS = 3_000

/**
 * Opens a connection to the Redis at `url`, which is made again after every outage. Requests during an outage reject at once; while the
 * server is silent they stay pending, and the caller gives them up.
 */
export async function openRedis(url: string, pingMs = PING_MS) {
  const { createClient } = await loadInstalled('@redis/client', () => import('@redis/client'))
  const create = () => {
    try {
      return createClient(clientOptions(url, pingMs))
    } catch (error) {
      throw new SallyportError('invalid_config', `redis: the URL is not valid: ${(error as Error).message}`)
    }
  }
  const connection = keepConnected(create, pingMs)
  await Promise.race([connection.first, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())])
  return connection
}

function clientOptions(url: string, pingInterval: number) {
  return {
    url,
    // Otherwise a command waits for a server that may never come.
    disableOfflineQueue: true,
    pingInterval,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (attempt: number) => Math.min(MIN_RECONNECT_MS * 2 ** attempt, MAX_RECONNECT_MS),
    },
  }
}

/** The used part of the library's client, which reconnects until it is destroyed. */
interface Client {
  readonly isReady: boolean
  readonly isOpen: boolean
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error' | 'ready' | 'ping-interval', listener: (error?: Error) => void): unknown
}

/** Keeps one client, and replaces it when its connection is silent. `first`: the first one is connected, or closed. */
function keepConnected<T extends Client>(create: () => T, pingMs: number) {
  let unanswered = 0
  let client = create()
  /** The fault of the last try to connect, as a server that asks for a password gives it. */
  let why = ''

  function connect(): Promise<void> {
    const onAnswer = (): void => {
      unanswered = 0
    }
    // The request that an outage fails reports it.
    client.on('error', (error) => {
      const [said = ''] = (connectionReason(error) ?? error?.message)?.split(/\.?(?:\n|$)/, 1) ?? []
      why = said === '' ? '' : `: ${said}`
    })
    client.on('ready', onAnswer)
    client.on('ping-interval', onAnswer)
    return client.connect().then(
      () => {},
      () => {},
    )
  }

  // A connection can end without a packet, as when a machine fails; TCP finds out after a quarter of an hour.
  const watching = setInterval(() => {
    if (!client.isReady || ++unanswered <= MAX_SILENT_PINGS) return
    client.destroy()
    client = create()
    void connect()
  }, pingMs).unref()

  return {
    first: connect(),
    /** Throws `service_unavailable` while there is no connection: the library's own error has no code. */
    client(): T {
      if (!client.isReady) throw new SallyportError('service_unavailable', `Redis is not connected${why}.`)
      return client
    },
    close(): void {
      clearInterval(watching)
      if (client.isOpen) client.destroy()
    },
  }
}
