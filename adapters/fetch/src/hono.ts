import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import { baseOf, requireApi } from '@sallyport/node/internal'
import type { Context, MiddlewareHandler } from 'hono'
import { type AddressOf, answerEither, createAsking, createEither, type Place } from './either-runtime.ts'

export { open } from '@sallyport/node'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport: Decision | undefined
  }
}

/** Address of the client where Hono does not run on Node: the socket's, never a header's. */
export type AddressOptions = AddressOf<Context>

/**
 * Middleware that inspects every request: an enforced block is answered with 403, any other request goes on with the
 * decision as `c.get('sallyport')`. On Node (`@hono/node-server`) the request is judged as Node received it, with its
 * socket and the order and case of its headers, and has the verdict in its headers. Use it first. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, open } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(inspection(await open(), { skip: (c) => c.req.path === '/health' }))
 * app.get('/', (c) => c.json({ action: c.get('sallyport')?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(
  sallyport: Decider,
  { address, ...options }: InspectionOptions<Context> & AddressOptions = {},
): MiddlewareHandler {
  const inspect = createEither<Context>(sallyport, options, (c) => placeOf(c, address))
  return async (c, next) => {
    const { decision, response, end } = await inspect(c)
    c.set('sallyport', decision)
    if (response !== undefined) return response
    if (end === undefined) return next()
    try {
      await next()
    } catch (thrown) {
      // Hono makes an answer of an Error alone; with anything else that was thrown the request ends as well.
      end(new Response(null, { status: 500 }))
      throw thrown
    }
    c.res = end(c.res)
  }
}

/**
 * Middleware that challenges visitors without a pass of a level, at a place of the application's choice. Holders of
 * such a pass go on, and so do visitors who are never challenged. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection, open } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 *
 * const sallyport = await open()
 * const app = new Hono()
 * app.use(inspection(sallyport))
 * app.get('/buy', challenge(sallyport, { level: 2 }), (c) => c.text('sold'))
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(
  sallyport: Decider,
  { address, ...options }: ChallengeOptions & AddressOptions = {},
): MiddlewareHandler {
  const ask = createAsking(sallyport, options)
  return async (c, next) => (await ask(placeOf(c, address))) ?? next()
}

/**
 * Middleware that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { open, v1 } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(v1(await open(), { base: '/detect' }))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost, options: V1Options & AddressOptions = {}): MiddlewareHandler {
  requireApi(sallyport)
  const { address } = options
  const base = baseOf(options.base)
  return async (c, next) => (await answerEither(sallyport, placeOf(c, address), base)) ?? next()
}

/** The request as `@hono/node-server` received it, else as the web has it. */
function placeOf(c: Context, address: AddressOptions['address']): Place {
  const { env } = c
  const {
    incoming: req,
    outgoing: res,
  }: { incoming?: IncomingMessage | undefined; outgoing?: ServerResponse | undefined } = env ?? {}
  if (req?.rawHeaders === undefined || res === undefined) return { request: c.req.raw, address: address?.(c) }
  return { req, res, made: c.req.raw }
}
