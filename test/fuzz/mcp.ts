import { readMcpRequest } from '@sallyport/core'
import { mutatedText } from './mutations.ts'
import { type FuzzTarget, fuzzTarget, inTime } from './target.ts'

const FIELDS = ['Content-Type', 'application/json']

const BODIES = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"name":"x","a":["{\\"id\\":2}"]}}}',
  '[{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"file:///a"}},{"jsonrpc":"2.0","id":2,"result":{}}]',
  '{"jsonrpc":"2.0","method":"tools/list","Method":"tools/call","metho\\u0064":"ping","params":null}',
]

/** A body of an MCP client is read or refused, and no call that a parser of JSON finds is left out. */
export const mcp: FuzzTarget = fuzzTarget<string>('MCP requests', async () => ({
  inputs: mutatedText(BODIES),
  check(input) {
    const read = inTime('a body', () => readMcpRequest(FIELDS, { bytes: Buffer.from(input) }))
    if (read === undefined || read.fault !== undefined) return
    const value: unknown = JSON.parse(input)
    const methods = [value].flat().flatMap((message) => (message as { method?: unknown }).method ?? [])
    const found = read.calls.map(({ method }) => method)
    if (methods.join() !== found.join()) throw new Error(`${methods.join()} is read as ${found.join()}`)
  },
}))
