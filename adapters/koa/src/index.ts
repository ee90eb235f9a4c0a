import type { ApiResponse } from '@sallyport/api'
import type { Decision } from '@sallyport/core'
import type { ApiHost, Decider, InspectionOptions } from '@sallyport/node'
import { answer, baseOf, createInspection, hostBody, mountedPath, requireApi } from '@sallyport/node/internal'
import type { Context, Middleware } from 'koa'

export { guardUpgrade, type InspectionOptions } from '@sallyport/node'

declare module 'koa' {
  interface DefaultState {
    /** What Sallyport decided; absent before `inspection` has run, and where the request could not be judged. */
    sallyport?: Decision
  }
}

export interface V1Options {
  /** Path that `/v1` hangs under, as `/detect`; Koa has no mounts of its own. */
  readonly base?: string
}

/**
 * Middleware that inspects every request: an enforced block is answered with 403, any other request goes on with the
 * decision as `ctx.state.sallyport` and in its headers. Use it first. With `provenance`, claims are
 * recorded.
 */
export function inspection(sallyport: Decider, options: InspectionOptions<Context> = {}): Middleware {
  const inspect = createInspection(sallyport, options)
  return async (ctx, next) => {
    const { req, res, originalUrl: target } = ctx
    const outcome = inspect({ req, res, target }, ctx as Context)
    const { decision, refusal } = outcome instanceof Promise ? await outcome : outcome
    if (decision !== undefined) ctx.state.sallyport = decision
    if (refusal !== undefined) return respond(ctx, refusal)
    await next()
  }
}

/** Middleware that answers everything under `<base>/v1`; any other path goes on. */
export function v1(sallyport: ApiHost, options: V1Options = {}): Middleware {
  requireApi(sallyport)
  const base = baseOf(options.base)
  return async (ctx, next) => {
    const path = mountedPath(ctx.url, base)
    const { body } = ctx.request as { readonly body?: unknown }
    const { req, res, originalUrl: target } = ctx
    const response = path === undefined ? path : await answer(sallyport, req, { res, target, path, body })
    if (response !== undefined) return respond(ctx, response)
    await next()
  }
}

function respond(ctx: Pick<Context, 'status' | 'set' | 'body'>, response: ApiResponse): void {
  ctx.status = response.status
  ctx.set({ ...response.headers })
  ctx.body = hostBody(response)
}
