import type { Decision } from '@sallyport/core'
import type { ApiHost, Decider, InspectionOptions } from '@sallyport/node'
import { answer, createInspection, mountedPath, NODE, requireApi, trimBase } from '@sallyport/node/internal'
import type { Context, Middleware } from 'koa'
import { respond } from './respond.ts'

export { type ChallengeOptions, guardUpgrade, type InspectionOptions, open } from '@sallyport/node'
export { challenge } from './challenge.ts'

declare module 'koa' {
  interface DefaultState {
    /** Holds the decision; absent before `inspection` has run, and where the request could not be judged. */
    sallyport?: Decision | undefined
  }
}

/** Options that `v1` takes. */
export interface V1Options {
  /** The path above `/v1`, such as `/detect`; Koa has no mounts of its own. */
  readonly base?: string | undefined
}

/**
 * Creates middleware that inspects every request: it answers an enforced block with 403, and any other request goes on with the decision as
 * `ctx.state.sallyport` and in its headers. Use it first. Throws `invalid_config` for an unknown option, and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { inspection, open } from '@sallyport/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(inspection(await open(), { skip: (ctx) => ctx.path === '/health' }))
 * app.use((ctx) => void (ctx.body = { action: ctx.state.sallyport?.action }))
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/adapters/node#options
 */
export function inspection(sallyport: Decider, options: InspectionOptions<Context> = {}): Middleware {
  const inspect = createInspection(NODE, sallyport, options)
  return async (ctx, next) => {
    const { req, res, originalUrl: target } = ctx
    const parsed = (): unknown => (ctx.request as { readonly body?: unknown }).body
    const outcome = inspect({ req, res, target, parsed }, ctx as Context)
    const { decision, refusal } = outcome instanceof Promise ? await outcome : outcome
    if (decision !== undefined) ctx.state.sallyport = decision
    if (refusal !== undefined) return respond(ctx, refusal)
    try {
      await next()
    } catch (thrown) {
      // Koa never answers where undefined or null was thrown: the request would stay in flight until its client leaves.
      throw thrown ?? new Error(`The application threw ${thrown}.`)
    }
  }
}

/**
 * Creates middleware that answers everything under `<base>/v1`; any other path goes on. Throws `invalid_config`.
 *
 * @example
 * ```ts
 * import { open, v1 } from '@sallyport/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(v1(await open(), { base: '/detect' }))   // POST /detect/v1/ip/lookup
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/engine/openapi.json
 */
export function v1(sallyport: ApiHost, options: V1Options = {}): Middleware {
  requireApi(sallyport)
  const base = trimBase(options.base)
  return async (ctx, next) => {
    const path = mountedPath(ctx.url, base)
    const { body } = ctx.request as { readonly body?: unknown }
    const { req, res, originalUrl: target } = ctx
    const response = path === undefined ? path : await answer(sallyport, req, { res, target, path, body })
    if (response !== undefined) return respond(ctx, response)
    await next()
  }
}
