// An MCP server with limits by tool and by caller. PORT says where it listens; 0 takes a free port.
// Try: node mcp-client.js http://127.0.0.1:3000/mcp
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { guardUpgrade, inspection, open, v1 } from '@sallyport/express'
import express from 'express'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: {
    rules: [
      { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' },
      { id: 'no-delete', match: { path: ['/mcp'], mcp: { name: ['delete'] }, plan: ['free'] }, action: 'block' },
      {
        id: 'searches',
        match: { path: ['/mcp'], mcp: { method: ['tools/call'], name: ['search'] } },
        limit: { key: 'caller', max: 3, window: '1m' },
        action: 'throttle',
      },
    ],
  },
})

/** The users by their API keys; with OAuth this is the subject of the token. */
const USERS = new Map([['Bearer key-of-ada', 'ada']])

const app = express()
app.use(
  inspection(sallyport, {
    identify: ({ headers }) => ({ user: USERS.get(headers.authorization ?? ''), plan: 'free' }),
  }),
)
app.use(v1(sallyport))
app.get('/', (req, res) => {
  const { action, inspection } = req.sallyport ?? {}
  res.json({ action, networkClass: inspection?.network.verdict.classification })
})
app.post('/mcp', async (req, res) => {
  const server = new McpServer({ name: 'example', version: '1.0.0' })
  for (const name of ['search', 'delete']) {
    server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: `${name}: done` }] }))
  }
  const transport = new StreamableHTTPServerTransport()
  res.on('close', () => void server.close())
  await server.connect(transport as Parameters<typeof server.connect>[0])
  await transport.handleRequest(req, res)
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
