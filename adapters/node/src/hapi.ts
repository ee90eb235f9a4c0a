import type { Lifecycle, Plugin, Request, ResponseToolkit } from '@hapi/hapi'
import type { Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { sendResponse } from './answer/send-response.ts'
import { type ApiHost, answer, requireApi } from './api-answer.ts'
import type { Decider } from './decider.ts'
import { createInspection } from './inspection/create-inspection.ts'
import type { InspectionOptions } from './inspection/inspection-options.ts'
import { type ChallengeOptions, createStepUp } from './inspection/step-up.ts'
import { NODE } from './receive.ts'
import { baseOf, mountedPath } from './request/mounted-path.ts'

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    /** The decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport?: Decision | undefined
  }
}

/** Options of `server.register({ plugin: inspection, options: { sallyport } })`. */
export interface HapiInspection extends InspectionOptions<Request> {
  readonly sallyport: Decider
}

/** Options of `server.register({ plugin: v1, options: { sallyport } })`. */
export interface HapiV1 {
  readonly sallyport: ApiHost
  /** Path that `/v1` hangs under, as `/detect`; default the root. */
  readonly base?: string | undefined
}

/**
 * Plugin that inspects every request of the whole server, before hapi looks for a route: an enforced block is answered with
 * 403, any other request goes on with the decision as `request.app.sallyport` and in its headers. Register it first. Rejects
 * with `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { server as createServer } from '@hapi/hapi'
 * import { inspection } from '@sallyport/node/hapi'
 * import { open } from 'sallyport'
 *
 * const server = createServer({ port: 3000 })
 * await server.register({ plugin: inspection, options: { sallyport: await open() } })
 * server.route({ method: 'GET', path: '/', handler: ({ app }) => ({ action: app.sallyport?.action }) })
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export const inspection: Plugin<HapiInspection> = {
  name: '@sallyport/node/hapi/inspection',
  register(server, { sallyport, ...options }) {
    const inspect = createInspection(NODE, sallyport, options)
    server.ext('onRequest', async (request, h) => {
      const { decision, refusal } = await inspect(placeOf(request), request)
      request.app.sallyport = decision
      return refusal === undefined ? h.continue : sent(request, h, refusal)
    })
  },
}

/**
 * Hook of routes that challenges visitors without a pass of a level, at a place of the application's choice. Holders of
 * such a pass go on, and so do visitors who are never challenged. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { server as createServer } from '@hapi/hapi'
 * import { challenge, inspection } from '@sallyport/node/hapi'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open()
 * const server = createServer({ port: 3000 })
 * await server.register({ plugin: inspection, options: { sallyport } })
 * const ext = { onPreAuth: { method: challenge(sallyport, { level: 2 }) } }
 * server.route({ method: 'GET', path: '/buy', options: { ext }, handler: () => 'sold' })
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, options: ChallengeOptions = {}): Lifecycle.Method {
  const ask = createStepUp(NODE, sallyport, options)
  return async (request, h) => {
    const asked = await ask(placeOf(request))
    return asked === undefined ? h.continue : sent(request, h, asked)
  }
}

/**
 * Plugin that answers everything under `<base>/v1`, before hapi reads a body or looks for a route. Rejects with `invalid_config`.
 *
 * @example
 * ```ts
 * import { server as createServer } from '@hapi/hapi'
 * import { v1 } from '@sallyport/node/hapi'
 * import { open } from 'sallyport'
 *
 * const server = createServer({ port: 3000 })
 * await server.register({ plugin: v1, options: { sallyport: await open(), base: '/detect' } })
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export const v1: Plugin<HapiV1> = {
  name: '@sallyport/node/hapi/v1',
  register(server, { sallyport, base: configured }) {
    requireApi(sallyport)
    const base = baseOf(configured)
    server.ext('onRequest', async (request, h) => {
      const { req, res } = placeOf(request)
      const { url: target = '' } = req
      const path = mountedPath(target, base)
      const answered = path === undefined ? path : await answer(sallyport, req, { res, target, path })
      return answered === undefined ? h.continue : sent(request, h, answered)
    })
  },
}

/** A request as Node received it; one that hapi's `inject` made has no list of fields. */
function placeOf({ raw }: Request): Request['raw'] {
  const made: { rawHeaders?: string[] | undefined } = raw.req
  made.rawHeaders ??= Object.entries(raw.req.headers).flatMap(([name, value]) => [name, String(value)])
  return raw
}

/** Sends an answer past hapi, which would add fields of its own and write others again. */
async function sent({ raw }: Request, h: ResponseToolkit, response: ApiResponse): Promise<symbol> {
  await sendResponse(raw.res, response)
  return h.abandon
}
