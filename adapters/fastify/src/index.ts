import type { Decision } from '@sallyport/core'
import type { ApiHost, Decider, InspectionOptions as SharedOptions } from '@sallyport/node'
import {
  answer,
  createInspection,
  mountedPath,
  NODE,
  type NodePlace,
  type Outcome,
  requireApi,
} from '@sallyport/node/internal'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { readBrokenEscapes } from './broken-escapes.ts'
import { respond } from './responder.ts'

export { type ChallengeOptions, guardUpgrade, open } from '@sallyport/node'
export { challenge } from './challenge.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Holds the decision; null before `inspection` has run, and where the request could not be judged. */
    readonly sallyport: Decision | null
  }
}

/** Options that `fastify.register(inspection, { sallyport })` takes. */
export interface InspectionOptions extends SharedOptions<FastifyRequest> {
  readonly sallyport: Decider
}

/** Options that `fastify.register(v1, { sallyport })` takes; `prefix` is Fastify's own. */
export interface V1Options {
  readonly sallyport: ApiHost
}

/** Options that Fastify itself takes with every plugin. */
const REGISTER_OPTIONS = ['prefix', 'logLevel', 'logSerializers']

const addInspection: FastifyPluginAsync<InspectionOptions> = async (fastify, { sallyport, ...options }) => {
  const inspect = createInspection<NodePlace, FastifyRequest>(NODE, sallyport, options, REGISTER_OPTIONS)
  fastify.decorateRequest('sallyport', null)
  fastify.addHook('onRequest', (request, reply, next) => {
    const apply = ({ decision, refusal }: Outcome) => {
      if (decision !== undefined) (request as { sallyport: Decision | null }).sallyport = decision
      if (refusal === undefined) next()
      else respond(reply, refusal)
    }
    const outcome = inspect({ req: request.raw, res: reply.raw, target: request.originalUrl }, request)
    if (outcome instanceof Promise) outcome.then(apply, next)
    else apply(outcome)
  })
}

/** Fastify refuses a missing or invalid Content-Type before any parser; the API answers such a request in its own form. */
const CONTENT_TYPE_ERRORS = ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE']

const addApi: FastifyPluginAsync<V1Options> = async (fastify, { sallyport }) => {
  requireApi(sallyport)
  const readUrl = readBrokenEscapes(fastify)
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = mountedPath(readUrl(request), fastify.prefix)
    const place = path === undefined ? path : { res: reply.raw, target: request.originalUrl, path }
    const response = place && (await answer(sallyport, request.raw, place))
    return response === undefined ? reply.callNotFound() : respond(reply, response)
  }
  // The API reads a body itself, after admission; outside this scope the host's parsers stay as they are.
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
  fastify.setErrorHandler((error: { readonly code?: string | undefined }, request, reply) => {
    if (!CONTENT_TYPE_ERRORS.includes(error.code ?? '')) throw error
    return handle(request, reply)
  })
  fastify.all('/v1', handle)
  fastify.all('/v1/*', handle)
  // Fastify finds no route for a method that it does not serve; in this scope the API answers such a request.
  fastify.register(async (scope) => void scope.setNotFoundHandler(handle), { prefix: '/v1' })
}

/**
 * Inspects every request of the whole server: it answers an enforced block with 403, and any other request goes on with the decision as
 * `request.sallyport` and in its headers. Register this plugin first. Rejects with `invalid_config` for an unknown option, and with
 * `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, open } from '@sallyport/fastify'
 * import Fastify from 'fastify'
 *
 * const fastify = Fastify()
 * await fastify.register(inspection, { sallyport: await open(), skip: (request) => request.url === '/health' })
 * fastify.get('/', async (request) => ({ action: request.sallyport?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export const inspection = fastifyPlugin(addInspection, { name: '@sallyport/fastify/inspection', fastify: '4.x || 5.x' })

/**
 * Answers everything under `/v1`, or under `<prefix>/v1`, in a scope of its own. Rejects with `invalid_config`.
 *
 * @example
 * ```ts
 * import { open, v1 } from '@sallyport/fastify'
 * import Fastify from 'fastify'
 *
 * await Fastify().register(v1, { sallyport: await open(), prefix: '/detect' })   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export const v1 = fastifyPlugin(addApi, { name: '@sallyport/fastify/v1', fastify: '4.x || 5.x', encapsulate: true })
