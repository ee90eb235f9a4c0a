import type { ApiResponse } from '@sallyport/engine'
import { hostBody } from '@sallyport/node/internal'
import type { FastifyReply } from 'fastify'

/** Answers with a response of ours. */
export function respond(reply: FastifyReply, response: ApiResponse): FastifyReply {
  return reply.headers(response.headers).code(response.status).serializer(keepText).send(hostBody(response))
}

/** Without a serializer Fastify adds a charset to every Content-Type of JSON, and rewrites its parameters. */
function keepText(text: string): string {
  return text
}
