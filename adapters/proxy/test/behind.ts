import type { Test } from 'tap'
import { openProxy, type ProxyHost, type ProxyOptions } from '../src/index.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, openRawOrigin } from './wire.ts'

/** A proxy in front of a raw origin, both closed with the test. `errors` collects what the proxy reported. */
export async function proxyBefore(
  t: Test,
  answer: Answer | string,
  { sallyport = fakeSallyport(), ...options }: ProxyOptions & { readonly sallyport?: ProxyHost | undefined } = {},
) {
  const origin = await openRawOrigin(answer)
  const errors: unknown[] = []
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: origin.url,
    onOriginFailure: (error) => errors.push(error),
    ...options,
    // Tests run side by side: a machine that is late is not what they look at.
    limits: { eventLoopDelay: '1m', ...options.limits },
    timeouts: { drain: 500, ...options.timeouts },
  })
  t.teardown(async () => {
    await proxy.close('cut')
    await origin.close()
  })
  return { origin, proxy, url: proxy.url, errors }
}
