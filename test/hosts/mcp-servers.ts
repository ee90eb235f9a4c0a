import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, McpServer as NewServer } from '@modelcontextprotocol/server'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forHono from '@sallyport/fetch/hono'
import type { InspectionOptions } from '@sallyport/node'
import { openProxy, type ProxyHost } from '@sallyport/proxy'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { type RunningHost, running } from './host.ts'

/* Starts MCP servers of the official SDKs, with sessions, behind Sallyport. */

type Identify = InspectionOptions<unknown>['identify']

/** Starts a server of MCP at `/mcp`. */
export interface McpHost {
  readonly name: string
  start(sallyport: ProxyHost, identify?: Identify): Promise<RunningHost>
}

const TOOLS = ['search', 'delete']

/** A server that tells how far a tool is before it answers, and that its tools have changed when it was asked to `announce`. */
function createTools(): McpServer {
  const server = new McpServer({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
  for (const name of TOOLS) {
    server.registerTool(name, {}, async ({ _meta, sendNotification }) => {
      const { progressToken } = _meta ?? {}
      if (progressToken !== undefined) {
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      }
      return { content: [{ type: 'text', text: `${name}: done` }] }
    })
  }
  server.registerTool('announce', {}, () => {
    server.sendToolListChanged()
    return { content: [] }
  })
  return server
}

type Connected = Parameters<McpServer['connect']>[0]

/** Answers requests of Node, each session by a server of its own. `parsed` is what the framework has made of the body. */
function createNodeMcp(): (req: IncomingMessage, res: ServerResponse, parsed?: unknown) => Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (req, res, parsed) => {
    const known = sessions.get(String(req.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(req, res, parsed)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createTools().connect(transport as Connected)
    await transport.handleRequest(req, res, parsed)
  }
}

function createWebMcp(): (request: Request) => Promise<Response> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createTools().connect(transport as Connected)
    return transport.handleRequest(request)
  }
}

/**
 * Creates the same tools by MCP 2026-07-28, which has no sessions; clients of earlier versions are answered too. A tool tells how far it is,
 * and goes on when `heard` says that its client knows.
 */
export function createNewMcp(heard?: Promise<void>): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const server = new NewServer({ name: 'tools', version: '2.0.0' })
    for (const name of TOOLS) {
      server.registerTool(name, {}, async ({ mcpReq: { _meta, notify } }) => {
        const { progressToken } = _meta ?? {}
        if (progressToken !== undefined) {
          await notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
          await heard
        }
        return { content: [{ type: 'text', text: `${name}: done` }] }
      })
    }
    return server
  })
  return (request) => handler.fetch(request)
}

function expressMcp(name: string, parses: boolean): McpHost {
  return {
    name,
    async start(sallyport, identify) {
      const answer = createNodeMcp()
      const app = express()
      // What is read here is not read by Sallyport again.
      if (parses) app.use(express.json())
      app.use(forExpress.inspection(sallyport, { identify }))
      app.all('/mcp', (req, res) => answer(req, res, req.body))
      return running(createServer(app))
    },
  }
}

const fastify: McpHost = {
  name: 'Fastify',
  async start(sallyport, identify) {
    const answer = createNodeMcp()
    const app = Fastify()
    await app.register(forFastify.inspection, { sallyport, identify })
    app.all('/mcp', async (request, reply) => {
      reply.hijack()
      await answer(request.raw, reply.raw, request.body)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
}

function honoMcp(name: string, create: () => (request: Request) => Promise<Response>): McpHost {
  return {
    name,
    async start(sallyport, identify) {
      const answer = create()
      const app = new Hono()
      app.use(forHono.inspection(sallyport, { identify }))
      app.all('/mcp', (c) => answer(c.req.raw))
      return running(createServer(getRequestListener(app.fetch)))
    },
  }
}

const proxy: McpHost = {
  name: 'the proxy',
  async start(sallyport) {
    const origin = await running(createServer(createNodeMcp()))
    const { url, close } = await openProxy(sallyport, {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      limits: { eventLoopDelay: '1m' },
      upstream: `http://127.0.0.1:${origin.port}`,
      timeouts: { drain: 0 },
    })
    return {
      port: Number(new URL(url).port),
      async close() {
        await close('cut')
        await origin.close()
      },
    }
  },
}

export const MCP_HOSTS: readonly McpHost[] = [
  expressMcp('Express', false),
  expressMcp("Express behind Express's parser", true),
  fastify,
  honoMcp('Hono', createWebMcp),
  proxy,
]

export const NEW_MCP: McpHost = honoMcp('Hono', () => createNewMcp())
