import type { Decision } from '@sallyport/core'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import {
  answer,
  createInspection,
  createStepUp,
  isReserved,
  mountedPath,
  rendered,
  requireApi,
  trimBase,
} from '@sallyport/node/internal'
import type { Context, MiddlewareHandler } from 'hono'
import { dropForged, EITHER, FORGED, type OnNode, type Place, renew, respond } from './either-runtime.ts'
import { v1 as answerWeb } from './index.ts'
import { answerTo, listFields } from './web-request.ts'

export { open } from '@sallyport/node'

declare module 'hono' {
  interface ContextVariableMap {
    /** Holds the decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport: Decision | undefined
  }
}

/** Names the client's address where Hono does not run on Node: it must come from the socket, never from a header. */
export interface AddressOptions {
  /** Returns the address for a request; absent or `undefined`: address and network are unknown. */
  readonly address?: ((host: Context) => string | undefined) | undefined
}

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
  const inspect = createInspection<Place, Context>(EITHER, sallyport, options)
  return async (c, next) => {
    const place = readPlace(c, address)
    const spoofed = 'req' in place ? place.req.rawHeaders.filter((name, at) => at % 2 === 0 && isReserved(name)) : []
    const { decision, refusal } = await inspect(place, c)
    c.set('sallyport', decision)
    if ('req' in place) {
      for (const name of spoofed) renew(place, name)
      return refusal === undefined ? next() : respond(place, refusal)
    }
    const { request, observation } = place
    if (refusal !== undefined) return respond(place, refusal)
    if (!dropForged(request)) {
      return respond(place, rendered(FORGED, { id: observation?.id ?? '', fields: listFields(request) }))
    }
    try {
      await next()
    } catch (thrown) {
      // Hono answers only a thrown Error; after any other thrown value the request ends too.
      place.finish(new Response(null, { status: 500 }))
      throw thrown
    }
    c.res = place.finish(c.res)
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
  const ask = createStepUp<Place>(EITHER, sallyport, options)
  return async (c, next) => {
    const body = options.form === undefined ? undefined : await readBody(c)
    const place = readPlace(c, address)
    const answered = await ask(place, body)
    return answered === undefined ? next() : respond(place, answered)
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
  return async (c, next) => {
    const place = readPlace(c, address)
    if (!('req' in place))
      return (await answerWeb(sallyport, place.request, { address: place.address, base })) ?? next()
    const { req, res } = place
    const { url: target = '' } = req
    const path = mountedPath(target, base)
    const answered = path === undefined ? undefined : await answer(sallyport, req, { res, target, path })
    return answered === undefined ? next() : respond(place, answered)
  }
}

/** Reads the request as `@hono/node-server` received it, else as a web request. */
function readPlace(c: Context, address: AddressOptions['address']): Place {
  const { incoming: req, outgoing: res }: { incoming?: OnNode['req']; outgoing?: OnNode['res'] } = c.env ?? {}
  // Hono keeps the body that an earlier middleware has read.
  const parsed = (): Promise<string | undefined> => c.req.text().catch(() => undefined)
  if (req?.rawHeaders === undefined || res === undefined) {
    return answerTo(c.req.raw, { address: address?.(c), parsed })
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
