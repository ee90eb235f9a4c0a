import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'

/** A notification as a webhook received it. */
interface Posted {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly message: { readonly kind: string; readonly text: string }
}

export async function openWebhook(t: Test) {
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    posted.push({ headers: request.headers, body, message: JSON.parse(body) })
    response.end()
  })
  const port = await listening(t, server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    posted,
    of: (kind: string) => posted.filter(({ message }) => message.kind === kind).map(({ message }) => message),
  }
}
