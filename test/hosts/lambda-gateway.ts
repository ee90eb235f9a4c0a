import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { handle } from 'hono/aws-lambda'

type Handler = ReturnType<typeof handle>

/**
 * A made API Gateway: a listener that hands each request to a handler of Lambda as an event of payload format 2.0, and sends
 * its result. As the real one it reads bodies whole, joins fields of one name and takes cookies out of them.
 */
export function gatewayBefore(handler: Handler): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    // A client may leave in the middle of its body.
    const bytes = await buffer(req).catch(() => undefined)
    if (bytes === undefined) return
    const {
      statusCode,
      headers = {},
      cookies = [],
      body = '',
      isBase64Encoded,
    } = await handler(makeEvent(req, bytes) as Parameters<Handler>[0])
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    if (cookies.length > 0) res.setHeader('set-cookie', cookies)
    const sent = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    if (!res.hasHeader('content-length')) res.setHeader('content-length', sent.length)
    res.statusCode = statusCode
    res.end(sent)
  }
}

/** Returns the members of payload format 2.0 that Hono reads. */
function makeEvent(req: IncomingMessage, bytes: Buffer) {
  const [, path = '', query = ''] = /^(?:http:\/\/[^/?]*)?([^?]*)\??(.*)$/.exec(req.url ?? '') ?? []
  const { cookie, ...fields } = req.headers
  const headers = Object.entries(fields).map(([name, value]) => [name, [value].flat().join()])
  return {
    rawPath: path,
    rawQueryString: query,
    headers: Object.fromEntries(headers),
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    ...(bytes.length > 0 && { body: bytes.toString('base64') }),
    isBase64Encoded: bytes.length > 0,
    requestContext: {
      domainName: req.headers.host ?? 'site.example',
      http: { method: req.method ?? '', sourceIp: req.socket.remoteAddress ?? '' },
    },
  }
}
