import type { Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { type FakeSallyport, fakeSallyport } from './sallyport.ts'
import { type Answer, OK, openRawOrigin } from './wire.ts'

export interface BeforeOptions extends ProxyOptions {
  readonly trust?: readonly string[] | undefined
  readonly sallyport?: FakeSallyport | undefined
}

/** Opens a proxy in front of a raw origin, both closed with the test, and collects what the proxy reports. */
export async function proxyBefore(
  t: Test,
  answer: Answer | string = OK,
  {
    trust,
    clientHeader,
    ja4Header,
    sallyport = fakeSallyport({ trust, clientHeader, ja4Header }),
    ...options
  }: BeforeOptions = {},
) {
  const origin = await openRawOrigin(answer)
  const errors: unknown[] = []
  const refused: string[] = []
  const notices: string[] = []
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: origin.url,
    clientHeader,
    ja4Header,
    onOriginFailure: (error) => errors.push(error),
    onRefused: (cause) => refused.push(cause),
    onNotice: (line) => notices.push(line),
    ...options,
    // Tests run side by side, so a late machine must not shed their requests.
    limits: { eventLoopDelay: '1m', ...options.limits },
    timeouts: { drain: 500, ...options.timeouts },
  })
  t.teardown(async () => {
    await proxy.close('cut')
    await origin.close()
  })
  return { origin, proxy, url: proxy.url, admin: String(proxy.adminUrl), errors, refused, notices, sallyport }
}

/** Opens a raw origin that is closed with the test. */
export async function openOrigin(t: Test, answer: Answer | string = OK) {
  const origin = await openRawOrigin(answer)
  t.teardown(() => origin.close())
  return origin
}

/** Opens an origin whose answers name it. */
export function openNamed(t: Test, name: string) {
  return openOrigin(t, `HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`)
}

export const GONE = 'http://127.0.0.1:1'
