import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'

/** Answer of the site behind every host: the request as it arrived there. */
export async function echo(req: IncomingMessage, target: string | undefined, parsed?: unknown): Promise<unknown> {
  const body = req.method !== 'POST' ? undefined : req.readableDidRead ? parsed : parseBody(await text(req))
  return { method: req.method, target, ...verdictSeen(req), ...(body === undefined ? {} : { body }) }
}

/** The body as a parser of the host's own would read it. */
function parseBody(written: string): unknown {
  return /^\w+=/.test(written) ? Object.fromEntries(new URLSearchParams(written)) : JSON.parse(written)
}

/** Returns every field that could pass for our verdict, by all the ways a Node request shows its fields. */
function verdictSeen(req: IncomingMessage): { readonly fields: readonly string[]; readonly headers: unknown } {
  const fields: string[] = []
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i]?.toLowerCase() ?? ''
    if (SPELLING.test(name)) fields.push(name, req.rawHeaders[i + 1] ?? '')
  }
  const headers = Object.entries({ ...req.headers }).filter(([name]) => SPELLING.test(name))
  // Node's compatibility API of HTTP/2 has none.
  const distinct: typeof req.headersDistinct | undefined = req.headersDistinct
  const hidden = Object.keys(distinct ?? {}).filter((name) => SPELLING.test(name) && !(name in req.headers))
  return { fields, headers: Object.fromEntries([...headers, ...hidden.map((name) => [name, 'in headersDistinct'])]) }
}

const SPELLING = /^sallyport[-_.]/

/** The site's WebSocket end: agrees at once, says what verdict it saw, and sends back what it gets. */
export function agree(req: IncomingMessage, socket: Duplex): void {
  const seen = Buffer.from(JSON.stringify(verdictSeen(req))).toString('base64')
  const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.on('error', () => socket.destroy())
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nX-Seen: ${seen}\r\n\r\n`,
  )
  socket.pipe(socket)
}

/** The same for hosts of web requests, which sort their headers. */
export async function echoFetch(request: Request, headers: Headers = request.headers): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const order = 'action network-class bot-probability request-id asn country enforced trial attestation-id'
  const names = order.split(' ')
  const place = ([name]: readonly [string, string]) => names.indexOf(name.slice('sallyport-'.length))
  const seen = [...headers].filter(([name]) => SPELLING.test(name)).sort((one, other) => place(one) - place(other))
  const body = request.method === 'POST' ? { body: parseBody(await request.text()) } : {}
  const shown = {
    method: request.method,
    target: pathname + search,
    fields: seen.flat(),
    headers: Object.fromEntries(seen),
  }
  const text = JSON.stringify({ ...shown, ...body })
  // Not every runtime adds a length of its own.
  const about = { 'content-type': 'application/json; charset=utf-8', 'content-length': String(Buffer.byteLength(text)) }
  return new Response(request.method === 'HEAD' ? null : text, { headers: about })
}
