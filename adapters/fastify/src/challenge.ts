import type { ChallengeOptions, Decider } from '@sallyport/node'
import { createStepUp, NODE, type NodePlace } from '@sallyport/node/internal'
import type { onRequestAsyncHookHandler } from 'fastify'
import { respond } from './responder.ts'

/**
 * Creates a hook for routes, `onRequest` or with `form` `preHandler`, that challenges visitors without a pass of a level. Visitors who hold
 * such a pass, or are never challenged, go on. Throws `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { challenge, inspection, open } from '@sallyport/fastify'
 * import Fastify from 'fastify'
 *
 * const sallyport = await open()
 * const fastify = Fastify()
 * await fastify.register(inspection, { sallyport })
 * fastify.get('/buy', { onRequest: challenge(sallyport, { level: 2 }) }, async () => 'sold')
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/challenge.md
 */
export function challenge(sallyport: Decider, options: ChallengeOptions = {}): onRequestAsyncHookHandler {
  const ask = createStepUp<NodePlace>(NODE, sallyport, options)
  return async (request, reply) => {
    const answer = await ask({ req: request.raw, res: reply.raw, target: request.originalUrl }, request.body)
    return answer === undefined ? undefined : respond(reply, answer)
  }
}
