import type { ObservedRequest } from '@sallyport/core'
import type { Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK } from './wire.ts'

/** Opens a proxy that answers checks of forward auth and serves no site. */
export async function openAsked(t: Test, forwardAuth: BeforeOptions['forwardAuth'], options: BeforeOptions = {}) {
  const observed: ObservedRequest[] = []
  const observe = (one: ObservedRequest): void => void observed.push(one)
  const sallyport = Object.assign(fakeSallyport(options), { observe })
  const before = await proxyBefore(t, OK, { sallyport, forwardAuth, upstream: undefined, ...options })
  const check = (...fields: readonly string[]) => exchange(before.url, get('/.sallyport/check', ...fields))
  return { ...before, observed, check }
}

export function fromNginx(visitor: string, uri = '/', method = 'GET'): string[] {
  return [`X-Original-URI: ${uri}`, `X-Original-Method: ${method}`, `X-Forwarded-For: ${visitor}`]
}

export function fromCaddy(visitor: string, uri = '/', method = 'GET', host = 'shop.example'): string[] {
  const forwarded = [`X-Forwarded-Uri: ${uri}`, `X-Forwarded-Method: ${method}`, `X-Forwarded-Host: ${host}`]
  return [...forwarded, `X-Forwarded-For: ${visitor}`, 'X-Forwarded-Proto: https']
}
