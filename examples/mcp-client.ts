// A client of mcp.ts that calls its tools until it is refused: node mcp-client.js http://127.0.0.1:3000/mcp
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [, , url = 'http://127.0.0.1:3000/mcp'] = process.argv
const client = new Client({ name: 'example-client', version: '1.0.0' })
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { authorization: 'Bearer key-of-ada' } },
})
await client.connect(transport as Parameters<typeof client.connect>[0])
for (const name of ['search', 'search', 'search', 'search', 'delete']) {
  try {
    console.log(JSON.stringify((await client.callTool({ name })).content))
  } catch (error) {
    console.log(`${name}: ${(error as Error).message}`)
  }
}
await client.close()
