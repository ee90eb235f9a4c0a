import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as NewServer } from '@modelcontextprotocol/server'
import * as forExpress from '@sallyport/express'
import * as forHono from '@sallyport/fetch/hono'
import type { InspectionOptions } from '@sallyport/node'
import type { ProxyHost } from '@sallyport/proxy'
import express from 'express'
import { Hono } from 'hono'
import type { Test } from 'tap'
import { type RunningHost, running } from './host.ts'
import { startProxyBefore } from './proxy.ts'

/* Starts MCP servers of the official SDKs, with sessions, behind Sallyport. */

type Identify = InspectionOptions<unknown>['identify']

/** Starts a server of MCP at `/mcp`. */
export interface McpHost {
  readonly name: string
  start(sallyport: ProxyHost, identify: Identify, t: Test): Promise<RunningHost>
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

const expressMcp: McpHost = {
  name: "Express behind Express's parser",
  async start(sallyport, identify) {
    const answer = createNodeMcp()
    const app = express()
    // What is read here is not read by Sallyport again.
    app.use(express.json(), forExpress.inspection(sallyport, { identify }))
    app.all('/mcp', (req, res) => answer(req, res, req.body))
    return running(createServer(app))
  },
}

const proxy: McpHost = {
  name: 'the proxy',
  start: (sallyport, _, t) => startProxyBefore(t, sallyport, createNodeMcp()),
}

export const MCP_HOSTS: readonly McpHost[] = [expressMcp, proxy]

export const NEW_MCP: McpHost = {
  name: 'Hono',
  async start(sallyport, identify) {
    const answer = createNewMcp()
    const app = new Hono()
    app.use(forHono.inspection(sallyport, { identify }))
    app.all('/mcp', (c) => answer(c.req.raw))
    return running(createServer(getRequestListener(app.fetch)))
  },
}
