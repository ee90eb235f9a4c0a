import t from 'tap'
import { type McpBody, mayBeMcp, readMcpRequest } from '../src/mcp/read-request.ts'

const JSON_TYPE = ['Content-Type', 'application/json']
const MODERN = [...JSON_TYPE, 'MCP-Protocol-Version', '2026-07-28']

function call(name: string, id?: number) {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), method: 'tools/call', params: { name } }
}

function bytes(value: unknown): McpBody {
  return { bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) }
}

function read(value: unknown, fields: readonly string[] = JSON_TYPE) {
  return readMcpRequest(fields, bytes(value))
}

function readFault(value: unknown, fields: readonly string[] = JSON_TYPE) {
  const { status, code } = read(value, fields)?.fault ?? {}
  return status && [status, code]
}

t.test('a body says what is called, and which calls wait for an answer', async (t) => {
  t.strictSame(read(call('search', 7)), { calls: [{ method: 'tools/call', name: 'search' }], ids: [7], isBatch: false })
  t.match(read({ jsonrpc: '2.0', id: 'a', method: 'resources/read', params: { uri: 'file:///a' } }), {
    calls: [{ method: 'resources/read', name: 'file:///a' }],
    ids: ['a'],
  })
  t.match(read({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 'x' } }), { calls: [{ name: 'x' }] })
  const ping = { jsonrpc: '2.0', method: 'ping' }
  t.strictSame(read([call('one', 1), call('two', 2), ping, { jsonrpc: '2.0', id: 3, result: {} }]), {
    calls: [{ method: 'tools/call', name: 'one' }, { method: 'tools/call', name: 'two' }, { method: 'ping' }],
    ids: [1, 2],
    isBatch: true,
  })
  t.match(readMcpRequest(JSON_TYPE, { parsed: call('search', 7) }), { calls: [{ name: 'search' }], ids: [7] })
})

t.test('JSON that is no request of MCP is none', async (t) => {
  t.equal(read({ name: 'search', method: 'paypal' }), undefined)
  t.equal(read([1, 2, 3]), undefined)
  t.equal(read('"text"'), undefined)
  t.equal(read('not json', ['Content-Type', 'text/plain']), undefined)
  t.match(read(call('search'), ['Content-Type', 'text/plain']), { calls: [{ name: 'search' }] })
  t.equal(read({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{}, 'latest'] })?.fault, undefined)
})

t.test('what may be a request of MCP', async (t) => {
  const may = (type: string, ...more: string[]) => mayBeMcp({ method: 'POST', fields: ['Content-Type', type, ...more] })
  // There are servers that search the whole value for the type.
  const some = ['Application/JSON; charset=utf-8', 'text/html; x=application/json', 'application/vnd.api+json']
  for (const type of [...some, 'text/plain', '']) t.ok(may(type), type)
  t.ok(may('image/png', 'Mcp-Session-Id', 'a'))
  t.ok(mayBeMcp({ method: 'POST', fields: [] }), 'without a type')
  for (const type of ['multipart/form-data; boundary=a', 'application/x-www-form-urlencoded']) t.notOk(may(type), type)
  t.notOk(may('image/png', 'X-Name', 'mcp-session-id'))
  t.notOk(mayBeMcp({ method: 'GET', fields: [...JSON_TYPE, 'Mcp-Method', 'tools/call'] }))
})

t.test('headers must repeat the body', async (t) => {
  const fields = (...more: string[]) => [...MODERN, ...more]
  const body = call('search', 1)
  t.equal(readFault(body, fields('Mcp-Method', 'tools/call', 'Mcp-Name', 'search')), undefined)
  t.equal(readFault(body, fields('mcp-method', ' tools/call ', 'MCP-NAME', '\tsearch')), undefined, 'white space')
  const refused = [400, -32020]
  const method = ['Mcp-Method', 'tools/call']
  for (const [value, sent, why] of [
    [body, fields('Mcp-Method', 'Tools/call'), 'values have a case'],
    [body, fields(...method, 'Mcp-Name', 'other'), 'another name'],
    [body, [...JSON_TYPE, 'Mcp-Method', 'tools/list'], 'of any version'],
    [body, fields(...method, ...method), 'twice'],
    [call('caf\xe9', 1), fields(...method, 'Mcp-Name', 'caf\xe9'), 'not ASCII'],
    [[body], fields(...method), 'no header is about a batch'],
    [[body], fields('Mcp-Name', 'search'), 'nor this one'],
    [{ jsonrpc: '2.0', id: 1, result: {} }, fields('Mcp-Method', 'tools/list'), 'an answer'],
  ] as const)
    t.strictSame(readFault(value, sent), refused, why)
  const version = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const meta = { ...body, params: { name: 'search', _meta: version } }
  t.equal(readFault(meta, MODERN), undefined)
  t.strictSame(readFault(meta, [...JSON_TYPE, 'MCP-Protocol-Version', '2025-11-25']), refused)
  t.match(read(body, fields('Mcp-Method', 'tools/list'))?.ids, [1], 'the answer has the id')
})

t.test('names that no header can have are Base64', async (t) => {
  const named = (name: string, header: string) =>
    readFault(call(name, 1), [...MODERN, 'Mcp-Method', 'tools/call', 'Mcp-Name', header])
  t.equal(named('Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='), undefined)
  t.equal(named('=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='), undefined)
  t.equal(named('\ufeffa', '=?base64?77u/YQ==?='), undefined)
  t.equal(named('=?BASE64?YQ==?=', '=?BASE64?YQ==?='), undefined, 'the marks have a case')
  // These are another name, one with a mark of byte order, one without its padding, and one that is no Base64.
  for (const text of ['Yg==', '77u/YQ==', 'YQ', '%%%%'])
    t.strictSame(named('a', `=?base64?${text}?=`), [400, -32020], text)
  t.strictSame(named('\ufffd', '=?base64?/w==?='), [400, -32020], 'not UTF-8')
})

t.test('a body that two servers could read differently is refused', async (t) => {
  const invalid = [400, -32600]
  const text = (members: string) => `{"jsonrpc":"2.0","id":1,${members}}`
  for (const members of [
    '"method":"tools/list","method":"tools/call","params":{"name":"a"}',
    '"method":"tools/list","Method":"tools/call","params":{"name":"a"}',
    '"method":"tools/list","metho\\u0064":"tools/call"',
    '"method":"tools/call","params":{"name":"a","Name":"b"}',
    '"method":"tools/call","params":{"name":"a"},"param\u017f":{"name":"b"}',
    '"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}',
    '"method":"tools/list","jsonrpc":"1.0"',
  ]) {
    t.strictSame(readFault(text(members)), invalid, members)
    t.strictSame(readFault(`[${text(members)}]`), invalid, `batch of ${members}`)
  }
  for (const members of [
    '"method":"tools/call","params":{"name":"a","arguments":{"name":"b","Name":"c","method":"d","method":"e"}}',
    '"method":"tools/call","params":{"name":"a","arguments":[{"method":"a","method":"b"}]}',
    '"method":"tools/call","params":{"name":"\\"name\\":{[","arguments":[{"name":1},{"name":2}]}',
  ])
    t.equal(readFault(text(members)), undefined, members)
})

t.test('malformed bodies are answered as JSON-RPC has it', async (t) => {
  const invalid = [400, -32600]
  const plain = [...MODERN.slice(2), 'Content-Type', 'text/plain']
  for (const text of ['{"jsonrpc":"2.0",', '']) t.strictSame(readFault(text), [400, -32700], text)
  t.strictSame(readFault('nothing', plain), [400, -32700], 'a header says MCP')
  t.strictSame(readMcpRequest(JSON_TYPE, { bytes: Buffer.from([0x22, 0xff, 0x22]) })?.fault?.code, -32700)
  for (const value of [[], [1], [[call('a')]], {}])
    t.strictSame(readFault(value, MODERN), invalid, JSON.stringify(value))
  for (const value of [
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: 2, method: 'tools/call' },
    { method: 'tools/call', params: { name: 'a' } },
    { jsonrpc: '2.0', method: ['tools/call'] },
    // JavaScript cannot write this method as a text.
    [{ method: { toString: 1 } }, call('a')],
    [null, call('a')],
    { jsonrpc: '2.0', method: 'tools/call', params: ['a'] },
    { jsonrpc: '2.0', method: 'tools/call', params: { name: ['a'] } },
    Array.from({ length: 101 }, () => call('a')),
  ])
    t.strictSame(readFault(value), invalid, JSON.stringify(value).slice(0, 80))
  t.equal(readFault(Array.from({ length: 100 }, () => call('a'))), undefined)
  t.equal(readFault(`\ufeff${JSON.stringify(call('a'))}`), undefined, 'a byte order mark')
  const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  const deep = `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a","arguments":${nested}}}`
  t.match(read(deep), { calls: [{ name: 'a' }] }, 'a nesting of thousands')
})

t.test('nothing is read that a server would read otherwise', async (t) => {
  const body = call('a', 1)
  const refused = [415, 415]
  t.strictSame(readFault(body, ['Content-Encoding', 'identity', 'content-encoding', 'br']), refused)
  const sets = ['=utf-7', `${' '.repeat(20)}=utf-7`, "*=utf-7''", '=utf-8; charset=utf-7', '="utf-16le"']
  for (const set of sets)
    t.strictSame(readFault(body, ['Content-Type', `application/json; charset${set}`]), refused, set)
  for (const type of ['application/json; charset=UTF-8', 'application/json;charset="utf8"'])
    t.equal(readFault(body, ['Content-Type', type, 'Content-Encoding', 'identity']), undefined, type)
  t.match(readMcpRequest(JSON_TYPE, { missing: 'too_large' })?.fault, { status: 413, code: 413 })
  t.match(readMcpRequest(JSON_TYPE, { missing: 'slow' })?.fault, { status: 408, code: 408 })
})

t.test('without a body only headers that a server compares with it are believed', async (t) => {
  const unseen = (...fields: string[]) => readMcpRequest([...JSON_TYPE, ...fields], { missing: 'unseen' })
  const version = ['MCP-Protocol-Version', '2026-07-28']
  t.strictSame(unseen(...version, 'Mcp-Method', 'tools/call', 'Mcp-Name', 'a'), {
    calls: [{ method: 'tools/call', name: 'a' }],
    ids: [],
    isBatch: false,
  })
  t.match(unseen('MCP-Protocol-Version', '2027-01-01', 'Mcp-Method', 'tools/list'), {
    calls: [{ method: 'tools/list' }],
  })
  for (const fields of [
    ['Mcp-Method', 'tools/list'],
    ['MCP-Protocol-Version', '2025-11-25', 'Mcp-Method', 'tools/list'],
    ['MCP-Protocol-Version', '2026', 'Mcp-Method', 'tools/list'],
    [...version, 'Mcp-Method', 'tools/call'],
    [...version, 'Mcp-Method', 'tools/list', 'Mcp-Method', 'tools/call'],
    [],
  ])
    t.match(unseen(...fields), { calls: [], fault: { status: 400, code: -32020 } }, fields.join(' '))
})
