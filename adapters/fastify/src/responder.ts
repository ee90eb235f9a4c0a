import type { ApiResponse } from '@sallyport/engine'
import { hostBody } from '@sallyport/node/internal'
import type { FastifyReply } from 'fastify'

/**
 * Sends responses. Fastify writes every name in lower case, which costs as much for each answer as all else that it does with a header; so
 * it gets each name as it will be written.
 */
export function createResponder(): (reply: FastifyReply, response: ApiResponse) => FastifyReply {
  const written = new Map<string, string>()

  function lowerName(name: string): string {
    const known = written.get(name)
    if (known !== undefined) return known
    const lower = name.toLowerCase()
    written.set(name, lower)
    return lower
  }

  return (reply, response) => {
    const { headers } = response
    for (const name in headers) reply.header(lowerName(name), headers[name])
    return reply.code(response.status).serializer(keepText).send(hostBody(response))
  }
}

/** Without a serializer Fastify adds a charset to every Content-Type of JSON, and rewrites its parameters. */
function keepText(text: string): string {
  return text
}
