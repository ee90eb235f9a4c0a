import { createServer, type RequestListener } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import { openProxy, type ProxyHost, type ProxyOptions } from '@sallyport/proxy'
import type { Test } from 'tap'
import type { RunningHost } from './host.ts'

type Opened = Pick<Awaited<ReturnType<typeof openProxy>>, 'url' | 'adminUrl' | 'reload'>

/** A proxy on loopback until the test ends; a machine that is late is not what its test looks at. */
export async function startProxy(t: Test, host: ProxyHost, options: ProxyOptions = {}): Promise<Opened & RunningHost> {
  const { url, adminUrl, close, reload } = await openProxy(host, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    ...options,
    limits: { eventLoopDelay: '1m', ...options.limits },
    timeouts: { drain: 0, ...options.timeouts },
  })
  t.teardown(() => close('cut'))
  return { url, adminUrl, reload, close: () => close('cut'), port: Number(new URL(url).port) }
}

/** Starts an origin that answers by a listener; resolves with its URL. */
export async function startOrigin(t: Test, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(t, createServer(listener))}`
}

/** Stands before an origin of the test. */
export async function startProxyBefore(
  t: Test,
  host: ProxyHost,
  listener: RequestListener,
  options: ProxyOptions = {},
): Promise<Opened & RunningHost> {
  return startProxy(t, host, { upstream: await startOrigin(t, listener), ...options })
}
