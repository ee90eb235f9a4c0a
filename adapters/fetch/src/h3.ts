import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import { baseOf, requireApi } from '@sallyport/node/internal'
import type { H3Event } from 'h3'
import { type AddressOf, answerEither, createAsking, createEither, type OnNode, type Place } from './either-runtime.ts'
import { finishPrepared } from './prepared-answer.ts'

declare module 'h3' {
  interface H3EventContext {
    /** The decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport?: Decision | undefined
  }
}

/** Address of the client where h3 does not run on Node and its server does not have it. */
export type AddressOptions = AddressOf<H3Event>

/** Middleware of h3 2, and an event handler of h3 1, which has no `next`: it goes on where nothing is returned. */
export type H3Middleware = (event: H3Event, next?: () => unknown) => Promise<unknown>

/**
 * Middleware that inspects every request: an enforced block is answered with 403, any other request goes on with the
 * decision as `event.context.sallyport`. On Node the request is judged as Node received it, and has the verdict in its
 * headers. Use it first. In Nitro and Nuxt it is the default export of the first file of `server/middleware`; h3 1, which Nitro 2
 * has, takes it as an event handler. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection } from '@sallyport/fetch/h3'
 * import { H3 } from 'h3'
 * import { open } from 'sallyport'
 *
 * const app = new H3()
 * app.use(inspection(await open(), { skip: (event) => event.url.pathname === '/health' }))
 * app.get('/', (event) => ({ action: event.context.sallyport?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(
  sallyport: Decider,
  { address, ...options }: InspectionOptions<H3Event> & AddressOptions = {},
): H3Middleware {
  const inspect = createEither<H3Event>(sallyport, options, (event) => placeOf(event, address))
  return async (event, next) => {
    const { decision, response, end } = await inspect(event)
    event.context.sallyport = decision
    if (response !== undefined) return response
    return end === undefined || next === undefined ? next?.() : finishPrepared(event.res, end, next)
  }
}

/**
 * Middleware that challenges visitors without a pass of a level, at a place of the application's choice. Holders of
 * such a pass go on, and so do visitors who are never challenged. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection } from '@sallyport/fetch/h3'
 * import { H3 } from 'h3'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open()
 * const app = new H3()
 * app.use(inspection(sallyport)).use('/buy', challenge(sallyport, { level: 2 })).get('/buy', () => 'sold')
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(
  sallyport: Decider,
  { address, ...options }: ChallengeOptions & AddressOptions = {},
): H3Middleware {
  const ask = createAsking(sallyport, options)
  return async (event, next) => (await ask(placeOf(event, address))) ?? next?.()
}

/**
 * Middleware that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { v1 } from '@sallyport/fetch/h3'
 * import { H3 } from 'h3'
 * import { open } from 'sallyport'
 *
 * const app = new H3()
 * app.use(v1(await open(), { base: '/detect' }))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost, options: V1Options & AddressOptions = {}): H3Middleware {
  requireApi(sallyport)
  const base = baseOf(options.base)
  return async (event, next) => (await answerEither(sallyport, placeOf(event, options.address), base)) ?? next?.()
}

/** The request as Node received it, which h3 1 has and srvx holds below that of h3 2; else as the web has it. */
function placeOf(event: H3Event, address: AddressOptions['address']): Place {
  const request: Request & { readonly ip?: string | undefined } = event.req
  const { req, res } = event.runtime?.node ?? event.node ?? {}
  if (req === undefined || res === undefined) {
    return { request, address: address === undefined ? request.ip : address(event) }
  }
  // The request of h3 1 is Node's own: nothing else was made of it. Node's compatibility API of HTTP/2 has what is used here.
  return { req, res, made: 'rawHeaders' in request ? undefined : request } as OnNode
}
