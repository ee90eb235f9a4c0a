import { createServer } from 'node:http'
import * as forElysia from '@sallyport/fetch/elysia'
import * as forH3 from '@sallyport/fetch/h3'
import * as forLambda from '@sallyport/fetch/lambda'
import { guardUpgrade } from '@sallyport/node'
import { Elysia } from 'elysia'
import { H3 } from 'h3'
import { createApp, eventHandler, toNodeListener } from 'h3v1'
import { toNodeHandler } from 'srvx/node'
import { answerEcho, type Host, running } from './host.ts'
import { echoOfEvent, gatewayBefore } from './lambda-gateway.ts'
import { HTTP1, serverOf } from './protocols.ts'
import { echoFetch } from './site.ts'

const h3: Host = {
  name: 'h3 2',
  speaks: ['tls', 'h2', 'h2c'],
  normalisesTargets: true,
  async start(sallyport, base, options = {}, over = HTTP1) {
    // It refuses broken escapes itself, before any middleware, unless it is asked not to.
    const app = new H3({ allowMalformedURL: true })
    app.use(forH3.inspection(sallyport, options))
    app.use(forH3.v1(sallyport, { base }))
    app.all('/**', (event) => echoFetch(event.req))
    const server = serverOf(over, toNodeHandler(app.fetch) as typeof answerEcho)
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

/** Its application is that of Nitro 2, and so of Nuxt 4. */
const h3OfNitro2: Host = {
  name: 'h3 1',
  speaks: ['tls'],
  async start(sallyport, base, options = {}, over = HTTP1) {
    const app = createApp()
    // Its events are others than those of h3 2, in name alone.
    app.use(eventHandler(forH3.inspection(sallyport, options) as never))
    app.use(eventHandler(forH3.v1(sallyport, { base }) as never))
    app.use(eventHandler(({ node }) => answerEcho(node.req, node.res)))
    const server = serverOf(over, toNodeListener(app))
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

const elysia: Host = {
  name: 'Elysia on Node',
  speaks: ['tls', 'h2', 'h2c'],
  normalisesTargets: true,
  async start(sallyport, base, options = {}, over = HTTP1) {
    const app = new Elysia()
      .use(forElysia.inspection(sallyport, options))
      .use(forElysia.v1(sallyport, { base }))
      .all('/*', ({ request }) => echoFetch(request))
    const server = serverOf(over, toNodeHandler(app.fetch) as typeof answerEcho)
    guardUpgrade(server, sallyport, options)
    return running(server)
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
    const handler = forLambda.inspection(sallyport, forLambda.v1(sallyport, echoOfEvent, { base }), options)
    return running(createServer(gatewayBefore(handler)))
  },
}

/** Hosts whose requests are received as those of HOSTS are: Node's own, or the web's. */
export const MORE_HOSTS: readonly Host[] = [h3, h3OfNitro2, elysia, lambda]
