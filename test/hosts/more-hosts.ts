import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as forExpress from '@sallyport/express'
import * as forHono from '@sallyport/fetch/hono'
import { listener, v1 } from '@sallyport/node'
import { withVerdict } from '@sallyport/node/internal'
import { Elysia } from 'elysia'
import { H3 } from 'h3'
import { createApp, eventHandler, fromNodeMiddleware, toNodeListener } from 'h3v1'
import { type Context, Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import { toNodeHandler } from 'srvx/node'
import { answerEcho, type Host, running, serve } from './host.ts'
import { gatewayBefore } from './lambda-gateway.ts'
import { HTTP1 } from './protocols.ts'
import { echoFetch } from './site.ts'

/** The handler of fetch runs by srvx on Node, behind the listener of `@sallyport/node`, as in the examples of h3 and Elysia. */
function srvxHost(name: string, fetch: (request: Request) => Response | Promise<Response>): Host {
  return {
    name,
    speaks: ['tls', 'h2', 'h2c'],
    normalisesTargets: true,
    async start(sallyport, base, options = {}, over = HTTP1) {
      const site = toNodeHandler(fetch) as (req: IncomingMessage, res: ServerResponse) => unknown
      return serve(over, listener(sallyport, v1(sallyport, site, { base }), options), sallyport, options)
    },
  }
}

// It refuses broken escapes itself, unless it is asked not to.
const h3 = new H3({ allowMalformedURL: true }).all('/**', (event) => echoFetch(event.req))
const elysia = new Elysia().all('/*', ({ request }) => echoFetch(request))

/** Nitro 2, and so Nuxt 4, has the same application: it runs middleware of Node. */
const h3OfNitro2: Host = {
  name: 'h3 1',
  speaks: ['tls'],
  async start(sallyport, base, options = {}, over = HTTP1) {
    const app = createApp()
    app.use(fromNodeMiddleware(forExpress.inspection(sallyport, options) as never))
    // A prefix of h3 1 does not match a target in absolute form.
    const below = (req: IncomingMessage, res: ServerResponse, next: () => void) =>
      v1(sallyport, () => next(), { base })(req, res)
    app.use(fromNodeMiddleware(base === '' ? (forExpress.v1(sallyport) as never) : below))
    app.use(eventHandler(({ node }) => answerEcho(node.req, node.res)))
    return serve(over, toNodeListener(app), sallyport, options)
  },
}

const lambda: Host = {
  name: 'AWS Lambda',
  speaks: [],
  normalisesTargets: true,
  hidesWire: true,
  readsBodiesFirst: true,
  hasNoUpgrades: true,
  async start(sallyport, base, options = {}) {
    const address = (c: Context): string => c.env.requestContext.http.sourceIp
    const app = new Hono()
    app.use(forHono.inspection(sallyport, { ...options, address }))
    app.use(forHono.v1(sallyport, { base, address }))
    app.all('*', ({ req, get }) =>
      echoFetch(req.raw, headersWith(withVerdict([...req.raw.headers].flat(), get('sallyport')))),
    )
    return running(createServer(gatewayBefore(handle(app))))
  },
}

function headersWith(fields: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < fields.length; at += 2) headers.append(fields[at] ?? '', fields[at + 1] ?? '')
  return headers
}

/** Lists hosts that receive requests as HOSTS do: Node's own, or the web's. */
export const MORE_HOSTS: readonly Host[] = [
  srvxHost('h3 2', h3.fetch),
  h3OfNitro2,
  srvxHost('Elysia on Node', elysia.fetch),
  lambda,
]
