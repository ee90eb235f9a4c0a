import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { LambdaEvent, LambdaResult } from '@sallyport/fetch/lambda'
import { echoFetch } from './site.ts'

type Handler = (event: LambdaEvent, context: undefined) => Promise<LambdaResult>

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
    } = await handler(eventOf(req, bytes), undefined)
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    if (cookies.length > 0) res.setHeader('set-cookie', cookies)
    const sent = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    if (!res.hasHeader('content-length')) res.setHeader('content-length', sent.length)
    res.statusCode = statusCode
    res.end(sent)
  }
}

function eventOf(req: IncomingMessage, bytes: Buffer): LambdaEvent {
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

/** Answers with what the site sees of an event. */
export async function echoOfEvent({ rawPath, rawQueryString, body, ...event }: LambdaEvent): Promise<LambdaResult> {
  const { method } = event.requestContext.http
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`
  const headers = Object.entries(event.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const seen = await echoFetch(
    new Request(`http://site.example${rawPath}${query}`, {
      method,
      headers: Object.fromEntries(headers),
      body: body === undefined || method === 'GET' || method === 'HEAD' ? null : Buffer.from(body, 'base64'),
    }),
  )
  const text = await seen.text()
  const told = text === '' ? '' : JSON.stringify({ ...JSON.parse(text), target: rawPath + query })
  return {
    statusCode: 200,
    headers: { ...Object.fromEntries(seen.headers), 'content-length': `${told.length}` },
    body: told,
  }
}
