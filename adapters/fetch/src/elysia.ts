import type { Decision } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import type { ApiHost, ChallengeOptions, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import { baseOf, requireApi } from '@sallyport/node/internal'
import type { Elysia } from 'elysia'
import { type AddressOf, answerEither, belowSrvx, createAsking, createEither, type Place } from './either-runtime.ts'

/** Address of the client where Elysia does not run on Node: on Bun `app.server?.requestIP(request)?.address`. */
export type AddressOptions = AddressOf<Request>

/**
 * Plugin that inspects every request of the whole application: an enforced block is answered with 403, any other request goes on
 * with the decision as `sallyport` of the context. On Node the request is judged as Node received it, and has the verdict in
 * its headers. It stands around everything that Elysia does, where answers of its own are seen too; with `aot: false` every
 * request fails. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection } from '@sallyport/fetch/elysia'
 * import { Elysia } from 'elysia'
 * import { open } from 'sallyport'
 *
 * const app = new Elysia()
 *   .use(inspection(await open(), { skip: (request) => request.url.endsWith('/health') }))
 *   .get('/', ({ sallyport }) => ({ action: sallyport?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(
  sallyport: Decider,
  { address, ...options }: InspectionOptions<Request> & AddressOptions = {},
) {
  const inspect = createEither<Request>(sallyport, options, (request) => placeOf(request, address))
  const decisions = new WeakMap<Request, Decision | undefined>()
  const guarded = (handle: (request: Request) => Promise<Response>) => async (request: Request) => {
    const { decision, response, end } = await inspect(request)
    decisions.set(request, decision)
    if (response !== undefined) return response
    if (end === undefined) return handle(request)
    try {
      return end(await handle(request))
    } catch (thrown) {
      end(new Response(null, { status: 500 }))
      throw thrown
    }
  }
  return (app: Elysia) =>
    app
      // Elysia's type of what it wraps knows neither the request nor the response.
      .wrap(guarded as never)
      // Elysia runs nothing around requests that it does not compile for; unnoticed, none would be inspected.
      .onRequest(({ request }) => {
        if (!decisions.has(request)) throw new SallyportError('invalid_config', UNCOMPILED)
      })
      .derive({ as: 'global' }, ({ request }) => ({ sallyport: decisions.get(request) }))
}

/**
 * Hook of routes (`beforeHandle`) that challenges visitors without a pass of a level, at a place of the application's
 * choice. Holders of such a pass go on, and so do visitors who are never challenged. Throws `invalid_config` and
 * `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection } from '@sallyport/fetch/elysia'
 * import { Elysia } from 'elysia'
 * import { open } from 'sallyport'
 *
 * const sallyport = await open()
 * const ask = challenge(sallyport, { level: 2 })
 * new Elysia().use(inspection(sallyport)).get('/buy', () => 'sold', { beforeHandle: ask })
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, { address, ...options }: ChallengeOptions & AddressOptions = {}) {
  const ask = createAsking(sallyport, options)
  return async ({ request }: { readonly request: Request }): Promise<Response | undefined> => {
    const asked = await ask(placeOf(request, address))
    return asked
  }
}

/**
 * Plugin that answers everything under `<base>/v1`, after the inspection. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { v1 } from '@sallyport/fetch/elysia'
 * import { Elysia } from 'elysia'
 * import { open } from 'sallyport'
 *
 * new Elysia().use(v1(await open(), { base: '/detect' }))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost, { address, ...options }: V1Options & AddressOptions = {}) {
  requireApi(sallyport)
  const base = baseOf(options.base)
  return (app: Elysia) =>
    app.onRequest(async ({ request }) => {
      const response = await answerEither(sallyport, placeOf(request, address), base)
      return response
    })
}

const UNCOMPILED = 'Elysia does not inspect requests with aot: false: put guard of @sallyport/fetch around app.fetch.'

/** The request as Node received it, below srvx; else as the web has it. */
function placeOf(request: Request & { readonly ip?: string | undefined }, address: AddressOptions['address']): Place {
  return belowSrvx(request) ?? { request, address: address === undefined ? request.ip : address(request) }
}
