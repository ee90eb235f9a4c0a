import type { IncomingMessage } from 'node:http'
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import type { RunningHost } from './host.ts'
import { MCP_HOSTS, type McpHost, NEW_MCP } from './mcp-servers.ts'
import { openWithoutData } from './without-data.ts'

/* The official SDKs give clients and servers, and Sallyport is between them. */
const POLICY = {
  preset: 'observe',
  rules: [
    { id: 'no-delete', match: { path: ['/mcp'], mcp: { name: ['delete'] } }, action: 'block' },
    {
      id: 'searches',
      match: { path: ['/mcp'], mcp: { method: ['tools/call'], name: ['search'] } },
      limit: { key: ['caller', 'tool'], max: 3, window: '1h', kind: 'fixed' },
      action: 'throttle',
    },
  ],
} satisfies ConfigInput['policy']

async function connect(t: Test, { port }: RunningHost, headers: Readonly<Record<string, string>>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers },
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  t.teardown(() => client.close())
  return client
}

function errorIn(error: { readonly message: string }) {
  return JSON.parse(error.message.slice(error.message.indexOf('{'))) as { id: number; error: Record<string, unknown> }
}

t.test('clients of earlier versions', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  for (const [at, host] of MCP_HOSTS.entries()) {
    await t.test(host.name, async (t) => {
      const running = await host.start(sallyport, undefined, t)
      t.teardown(() => running.close())
      const from = { 'x-forwarded-for': `8.4.0.${at}` }
      const client = await connect(t, running, from)
      t.same((await client.listTools()).tools.length, 3)

      let progress = 0
      const { content } = await client.callTool({ name: 'search' }, undefined, { onprogress: () => progress++ })
      t.match(content, [{ text: 'search: done' }])
      t.equal(progress, 1, 'the answer is a stream that is not touched')
      const changed = new Promise<void>((resolve) => {
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
      })
      await client.callTool({ name: 'announce' })
      await changed
      t.pass('the stream of a GET goes on')

      const blocked = await t.rejects(client.callTool({ name: 'delete' }))
      t.type(blocked, StreamableHTTPError)
      t.match(blocked, { code: 403 })

      // This is another session of the same client.
      const other = await connect(t, running, from)
      await other.callTool({ name: 'search' })
      await client.callTool({ name: 'search' })
      const error = (await other.callTool({ name: 'search' }).catch((thrown: unknown) => thrown)) as StreamableHTTPError
      t.equal(error.code, 429)
      t.match(errorIn(error), { jsonrpc: '2.0', id: 2, error: { code: 429, data: { error: 'rate_limit_exceeded' } } })
      const elsewhere = await connect(t, running, { 'x-forwarded-for': `8.5.0.${at}` })
      t.match((await elsewhere.callTool({ name: 'search' })).content, [{ text: 'search: done' }])
    })
  }
})

t.test('a user is one caller, wherever its sessions come from', async (t) => {
  const identify = (request: unknown) => {
    const { authorization } = (request as IncomingMessage).headers
    return { user: authorization === 'Bearer ada' ? 'ada' : undefined }
  }
  const [express] = MCP_HOSTS as readonly [McpHost]
  const running = await express.start(await openWithoutData(t, { policy: POLICY }), identify, t)
  t.teardown(() => running.close())
  const search = async (at: number, more = {}) => {
    const client = await connect(t, running, { 'x-forwarded-for': `8.6.0.${at}`, ...more })
    return client.callTool({ name: 'search' })
  }
  const ada = { authorization: 'Bearer ada' }
  for (let at = 0; at < 3; at++) await search(at, ada)
  await t.rejects(search(9, ada), { code: 429 })
  t.match((await search(9)).content, [{ text: 'search: done' }])
})

t.test('MCP 2026-07-28', async (t) => {
  const running = await NEW_MCP.start(await openWithoutData(t, { policy: POLICY }), undefined, t)
  t.teardown(() => running.close())
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const
  const client = new NewClient({ name: 'test', version: '1.0.0' }, pinned)
  await client.connect(new NewTransport(new URL(`http://127.0.0.1:${running.port}/mcp`)))
  t.teardown(() => client.close())
  const call = (name: string): Promise<unknown> => client.callTool({ name }).catch((error: unknown) => error)
  for (let at = 0; at < 3; at++) t.match(await call('search'), { content: [{ text: 'search: done' }] })
  t.match(await call('search'), { data: { status: 429 } })
  t.match(await call('delete'), { data: { status: 403 } })
  t.ok((await client.listTools()).tools.length)
  const old = await connect(t, running, { 'x-forwarded-for': '8.7.0.1' })
  t.match((await old.callTool({ name: 'search' })).content, [{ text: 'search: done' }])
})
