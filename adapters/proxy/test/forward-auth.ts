import type { ObservedRequest } from '@sallyport/core'
import type { Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get } from './wire.ts'

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

/** Opens a proxy that answers checks of forward auth and serves no site. */
export async function openAsked(
  t: Test,
  forwardAuth: NonNullable<ProxyOptions['forwardAuth']>,
  { trust = ['loopback'], ...options }: ProxyOptions & { readonly trust?: readonly string[] | undefined } = {},
) {
  const observed: ObservedRequest[] = []
  const notices: string[] = []
  const sallyport = Object.assign(fakeSallyport({ trust, ja4Header: options.ja4Header }), {
    observe: (one: ObservedRequest) => observed.push(one),
  })
  const proxy = await openProxy(sallyport, {
    ...LOOPBACK,
    forwardAuth,
    onNotice: (line) => notices.push(line),
    ...options,
    timeouts: { drain: 100 },
  })
  t.teardown(() => proxy.close('cut'))
  const check = (...fields: readonly string[]): Promise<string> =>
    exchange(proxy.url, get('/.sallyport/check', ...fields))
  return { proxy, sallyport, observed, notices, check }
}

/** Writes the headers of a check as nginx sends them. */
export function fromNginx(visitor: string, uri = '/', method = 'GET'): string[] {
  return [`X-Original-URI: ${uri}`, `X-Original-Method: ${method}`, `X-Forwarded-For: ${visitor}`]
}

/** Writes the headers of a check as Caddy and Traefik send them. */
export function fromCaddy(visitor: string, uri = '/', method = 'GET', host = 'shop.example'): string[] {
  const forwarded = [`X-Forwarded-Uri: ${uri}`, `X-Forwarded-Method: ${method}`, `X-Forwarded-Host: ${host}`]
  return [...forwarded, `X-Forwarded-For: ${visitor}`, 'X-Forwarded-Proto: https']
}
