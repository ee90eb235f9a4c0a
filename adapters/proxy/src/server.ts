import type { IncomingMessage, ServerResponse } from 'node:http'
import { SallyportError } from '@sallyport/core'
import { openAdmin } from './admin.ts'
import { errorAnswer, send } from './answers.ts'
import { openExampleSite } from './example-site.ts'
import { failureOf, openOrigin } from './forward.ts'
import { createGate, type GateOptions, type ProxyHost } from './gate.ts'
import { createListener, LISTENER_LIMITS, type ListenerLimits } from './listener.ts'
import { TIMEOUTS, type Timeouts } from './timeouts.ts'
import { openTunnel, responseOn } from './upgrade.ts'

/** The proxy's keys of the configuration, and the hooks of a program. */
export interface ProxyOptions extends GateOptions {
  /** `host:port`, default 127.0.0.1:8080; port 0 takes a free one. */
  readonly listen?: string | undefined
  /** Where the health listener is; absent: 127.0.0.1:9090, and none where that is taken. */
  readonly admin?: string | undefined
  /** The origin, `http(s)://host[:port]`; absent: the bundled example site. */
  readonly upstream?: string | undefined
  readonly timeouts?: Partial<Timeouts> | undefined
  readonly limits?: Partial<ListenerLimits> | undefined
  /** A connection was refused or cut by a limit. */
  readonly onRefused?: ((cause: 'connections' | 'pipelined') => void) | undefined
  /** How long `close()` waits for requests in flight, in milliseconds; default 10,000. */
  readonly drainMs?: number | undefined
  /** An origin without a usable answer; the client gets 502 or 504. */
  readonly onOriginFailure?: ((error: Error) => void) | undefined
  /** A line for the operator. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/** A proxy that listens. */
export interface Proxy {
  /** `http://host:port` it listens on. */
  readonly url: string
  /** Of the health listener; absent where there is none. */
  readonly adminUrl?: string
  /** The origin. */
  readonly upstream: string
  /** Accepts no new connection, waits for requests in flight, then cuts the rest. Does not close the Sallyport. */
  close(): Promise<void>
}

/**
 * Opens the standalone proxy: every request is checked, answered by the API where the path is the API's, decided, then
 * refused or forwarded. Rejects with `cannot_listen` where an address is taken, and with `invalid_config`.
 */
export async function openProxy(sallyport: ProxyHost, options: ProxyOptions = {}): Promise<Proxy> {
  const opened: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end()
  }
  try {
    const timeouts = { ...TIMEOUTS, ...options.timeouts }
    const site = options.upstream === undefined ? await openExampleSite() : undefined
    if (site) opened.push(site.close)
    const upstream = originUrl(options.upstream ?? site?.url ?? '')
    const origin = openOrigin(upstream, timeouts)
    opened.push(origin.close)

    const receive = createGate(sallyport, options)
    const failed = (request: IncomingMessage, response: ServerResponse, error: Error): void => {
      options.onOriginFailure?.(error)
      send(request, response, errorAnswer(failureOf(error)))
    }
    const listener = createListener(
      {
        onRequest(request, response, waiting) {
          const onFailure = (error: Error): void => failed(request, response, error)
          receive({
            request,
            response,
            waiting,
            forward: (fields) => origin.forward(request, response, fields, onFailure),
          })
        },
        onUpgrade(request, socket, head) {
          const response = responseOn(socket, request)
          if (response === undefined) return
          const onFailure = (error: Error): void => failed(request, response, error)
          receive({
            request,
            response,
            forward: (fields) => openTunnel(upstream, { request, socket, head, response, fields, onFailure }, timeouts),
          })
        },
      },
      {
        limits: { ...LISTENER_LIMITS, ...options.limits },
        isTrusted: (peer) => sallyport.isTrusted?.(peer) ?? false,
        onRefused: (cause) => options.onRefused?.(cause),
      },
    )

    const url = await listener.listen(options.listen ?? '127.0.0.1:8080')
    opened.push(() => listener.close(options.drainMs ?? 10_000))
    const admin = await openAdmin({
      ...(options.admin === undefined ? {} : { address: options.admin }),
      sources: () => sallyport.sources(),
      accepting: () => listener.accepting,
      onNotice: options.onNotice ?? (() => {}),
    })
    // Closed after the listener, so that readiness can be read during the drain.
    if (admin) opened.splice(-1, 0, admin.close)

    return { url, upstream: upstream.origin, close, ...(admin ? { adminUrl: admin.url } : {}) }
  } catch (error) {
    await close()
    throw error
  }
}

function originUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url
  throw new SallyportError('invalid_config', `upstream: "${text}" is not an origin: http(s)://host[:port]`)
}
