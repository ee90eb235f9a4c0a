import type { Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, openRawOrigin } from './wire.ts'

/** A proxy in front of a raw origin, both closed with the test. `errors` collects what the proxy reported. */
export async function proxyBefore(t: Test, answer: Answer | string, options: ProxyOptions = {}) {
  const origin = await openRawOrigin(answer)
  const errors: unknown[] = []
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: origin.url,
    drainMs: 500,
    onOriginFailure: (error) => errors.push(error),
    ...options,
  })
  t.teardown(async () => {
    await proxy.close()
    await origin.close()
  })
  return { origin, proxy, url: proxy.url, errors }
}
