import type { ChallengeOptions, Decider } from '@sallyport/node'
import { createStepUp, NODE } from '@sallyport/node/internal'
import type { Middleware } from 'koa'
import { respond } from './respond.ts'

/**
 * Creates middleware that challenges visitors without a pass of a level, at a place that the application chooses. Visitors who hold such a
 * pass, or are never challenged, go on. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection, open } from '@sallyport/koa'
 * import Koa from 'koa'
 *
 * const sallyport = await open()
 * const ask = challenge(sallyport, { level: 2 })
 * const app = new Koa()
 * app.use(inspection(sallyport))
 * app.use((ctx, next) => (ctx.path === '/buy' ? ask(ctx, next) : next()))
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, options: ChallengeOptions = {}): Middleware {
  const ask = createStepUp(NODE, sallyport, options)
  return async (ctx, next) => {
    const { req, res, originalUrl: target } = ctx
    const { body } = ctx.request as { readonly body?: unknown }
    const answer = await ask({ req, res, target }, body)
    if (answer !== undefined) return respond(ctx, answer)
    await next()
  }
}
