import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import { requireApi, trimBase } from '@sallyport/node/internal'
import type { Context, MiddlewareHandler } from 'hono'
import { type AddressOf, answerEither, createAsking, createEither, type Place } from './either-runtime.ts'

export { open } from '@sallyport/node'

declare module 'hono' {
  interface ContextVariableMap {
    /** Holds the decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport: Decision | undefined
  }
}

/** Names the client's address where Hono does not run on Node: it must come from the socket, never from a header. */
export type AddressOptions = AddressOf<Context>

/**
 * Creates middleware that inspects every request: it answers an enforced block with 403, and any other request goes on with the decision as
 * `c.get('sallyport')`. On Node (`@hono/node-server`) it judges the request as Node received it, with its socket and the order and case of
 * its headers, and adds the verdict to its headers. Use it first. Throws `invalid_config` and `invalid_policy`.
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
  const inspect = createEither<Context>(sallyport, options, (c) => readPlace(c, address))
  return async (c, next) => {
    const { decision, response, end } = await inspect(c)
    c.set('sallyport', decision)
    if (response !== undefined) return response
    if (end === undefined) return next()
    try {
      await next()
    } catch (thrown) {
      // Hono answers only a thrown Error; after any other thrown value the request ends too.
      end(new Response(null, { status: 500 }))
      throw thrown
    }
    c.res = end(c.res)
  }
}

/**
 * Creates middleware that challenges visitors without a pass of a level, at a place that the application chooses. Visitors who hold such a
 * pass, or are never challenged, go on. Throws `invalid_config` and `invalid_policy`.
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
  return async (c, next) => {
    const body = options.form === undefined ? undefined : await readBody(c)
    return (await ask(readPlace(c, address), body)) ?? next()
  }
}

/**
 * Creates middleware that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
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
  const base = trimBase(options.base)
  return async (c, next) => (await answerEither(sallyport, readPlace(c, address), base)) ?? next()
}

/** Reads the request as `@hono/node-server` received it, else as a web request. */
function readPlace(c: Context, address: AddressOptions['address']): Place {
  const { env } = c
  const {
    incoming: req,
    outgoing: res,
  }: { incoming?: IncomingMessage | undefined; outgoing?: ServerResponse | undefined } = env ?? {}
  // Hono keeps the body that an earlier middleware has read.
  const parsed = (): Promise<string | undefined> => c.req.text().catch(() => undefined)
  if (req?.rawHeaders === undefined || res === undefined) {
    return { request: c.req.raw, address: address?.(c), parsed }
  }
  return { req, res, made: c.req.raw, parsed }
}

/** Reads a form or JSON body, which Hono keeps for the application; `undefined` for any other body. */
async function readBody({ req }: Context): Promise<unknown> {
  const type = req.header('content-type') ?? ''
  try {
    return await (type.includes('json') ? req.json() : req.parseBody())
  } catch {
    return undefined
  }
}
