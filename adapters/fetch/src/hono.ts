import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import {
  answer,
  baseOf,
  createInspection,
  createStepUp,
  isReserved,
  mountedPath,
  NODE,
  type Receiver,
  requireApi,
} from '@sallyport/node/internal'
import type { Context, MiddlewareHandler } from 'hono'
import { v1 as answerFetch } from './index.ts'
import { answerTo, WEB, type WebAnswer, webResponse } from './web-request.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport: Decision | undefined
  }
}

/** Says who a request came from where Hono does not run on Node: the address of the socket, never of a header. */
export interface AddressOptions {
  /** The address for a request; absent, or for nothing: it is not known, and so is the network. */
  readonly address?: ((context: Context) => string | undefined) | undefined
}

/**
 * Middleware that inspects every request: an enforced block is answered with 403, any other request goes on with the
 * decision as `c.get('sallyport')`. On Node (`@hono/node-server`) the request is judged as Node received it (D118), with its
 * socket and the order and case of its headers, and has the verdict in its headers. Use it first. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 * import { open } from 'sallyport'
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
  const inspect = createInspection(HONO, sallyport, options)
  return async (c, next) => {
    const node = nodeOf(c)
    if (node !== undefined) {
      const spoofed = node.req.rawHeaders.filter((name, at) => at % 2 === 0 && isReserved(name))
      const outcome = inspect(node, c)
      const { decision, refusal } = outcome instanceof Promise ? await outcome : outcome
      // Something that ran before may have read them.
      for (const name of spoofed) replace(c.req.raw.headers, name, node.req)
      c.set('sallyport', decision)
      return refusal === undefined ? next() : onNode(refusal, node)
    }
    const web = answerTo(c.req.raw, { address: address?.(c) })
    const { decision, refusal } = await inspect(web, c)
    c.set('sallyport', decision)
    if (refusal !== undefined) return web.finish(webResponse(refusal, c.req.method))
    try {
      await next()
    } catch (thrown) {
      // Hono makes an answer of an Error alone; with anything else that was thrown the request ends as well.
      web.finish(new Response(null, { status: 500 }))
      throw thrown
    }
    c.res = web.finish(c.res)
  }
}

/**
 * Middleware that asks visitors for a pass of a level, at a place of the application's own choice. Who holds such a pass goes
 * on, as do those who are never asked. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 * import { open } from 'sallyport'
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
  const ask = createStepUp(HONO, sallyport, options)
  return async (c, next) => {
    const node = nodeOf(c)
    if (node !== undefined) {
      const answer = await ask(node)
      return answer === undefined ? next() : onNode(answer, node)
    }
    const web = answerTo(c.req.raw, { address: address?.(c) })
    const answer = await ask(web)
    return answer === undefined ? next() : web.finish(webResponse(answer, c.req.method))
  }
}

/**
 * Middleware that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { v1 } from '@sallyport/fetch/hono'
 * import { Hono } from 'hono'
 * import { open } from 'sallyport'
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
  return async (c, next) => {
    const node = nodeOf(c)
    if (node === undefined) {
      const response = await answerFetch(sallyport, c.req.raw, { address: address?.(c), base })
      return response ?? next()
    }
    const { req, res } = node
    const target = req.url ?? ''
    const path = mountedPath(target, base)
    const answered = path === undefined ? undefined : await answer(sallyport, req, { res, target, path })
    return answered === undefined ? next() : onNode(answered, node)
  }
}

/** The requests of Node as Node has them, those of other runtimes as the web has them. */
const HONO: Receiver<NodeServer | WebAnswer> = {
  receive: (host, place) => ('req' in place ? NODE.receive(host, place) : WEB.receive(host, place)),
  mark: (place, decision) => ('req' in place ? NODE.mark(place, decision) : undefined),
}

function onNode(response: ApiResponse, { req, res }: NodeServer): Response {
  const { connection } = response.headers
  // The web keeps to the runtime whether the connection ends, and Node's runtimes leave it out of an answer.
  if (connection !== undefined && !res.headersSent) res.setHeader('connection', connection)
  return webResponse(response, req.method ?? '')
}

function replace(headers: Headers, name: string, { headers: ours }: IncomingMessage): void {
  const value = ours[name.toLowerCase()]
  if (typeof value === 'string') headers.set(name, value)
  else headers.delete(name)
}

interface NodeServer {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** The request as `@hono/node-server` received it; `undefined` in another runtime. */
function nodeOf({ env }: Context): NodeServer | undefined {
  const {
    incoming: req,
    outgoing: res,
  }: { incoming?: IncomingMessage | undefined; outgoing?: ServerResponse | undefined } = env ?? {}
  return req?.rawHeaders === undefined || res === undefined ? undefined : { req, res }
}
