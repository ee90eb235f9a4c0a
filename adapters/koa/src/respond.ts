import type { ApiResponse } from '@sallyport/engine'
import { hostBody } from '@sallyport/node/internal'
import type { Context } from 'koa'

/** Answers with a response of ours. */
export function respond(ctx: Pick<Context, 'status' | 'set' | 'body'>, response: ApiResponse): void {
  ctx.status = response.status
  ctx.set({ ...response.headers })
  ctx.body = hostBody(response)
}
