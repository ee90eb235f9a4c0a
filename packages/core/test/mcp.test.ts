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
  t.strictSame(read({ jsonrpc: '2.0', method: 'notifications/initialized' })?.calls, [
    { method: 'notifications/initialized' },
  ])
  const batch = [
    call('one', 1),
    call('two', 2),
    { jsonrpc: '2.0', method: 'ping' },
    { jsonrpc: '2.0', id: 3, result: {} },
  ]
  t.strictSame(read(batch), {
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
  const may = (method: string, ...fields: string[]) => mayBeMcp({ method, fields })
  t.ok(may('POST', 'content-type', 'application/json'))
  t.ok(may('POST', 'Content-Type', 'Application/JSON; charset=utf-8'))
  t.ok(may('POST', 'Content-Type', 'text/html; x=application/json'), 'some servers search the value')
  t.ok(may('POST', 'Content-Type', 'application/vnd.api+json'))
  t.ok(may('POST', 'Content-Type', 'text/plain'))
  t.ok(may('POST'), 'without a type')
  t.ok(may('POST', 'Content-Type', ''))
  t.ok(may('POST', 'Content-Type', 'image/png', 'Mcp-Session-Id', 'a'))
  t.notOk(may('GET', 'Content-Type', 'application/json', 'Mcp-Method', 'tools/call'))
  t.notOk(may('POST', 'Content-Type', 'multipart/form-data; boundary=a'))
  t.notOk(may('POST', 'Content-Type', 'application/x-www-form-urlencoded'))
  t.notOk(may('POST', 'Content-Type', 'image/png', 'X-Name', 'mcp-session-id'))
})

t.test('headers must repeat the body', async (t) => {
  const fields = (...more: string[]) => [...MODERN, ...more]
  const body = call('search', 1)
  t.equal(readFault(body, fields('Mcp-Method', 'tools/call', 'Mcp-Name', 'search')), undefined)
  t.equal(
    readFault(body, fields('mcp-method', ' tools/call ', 'MCP-NAME', '\tsearch')),
    undefined,
    'without white space',
  )
  const refused = [400, -32020]
  t.strictSame(readFault(body, fields('Mcp-Method', 'tools/list')), refused)
  t.strictSame(readFault(body, fields('Mcp-Method', 'Tools/call')), refused, 'values have a case')
  t.strictSame(readFault(body, fields('Mcp-Method', 'tools/call', 'Mcp-Name', 'other')), refused)
  t.strictSame(readFault(body, [...JSON_TYPE, 'Mcp-Method', 'tools/list']), refused, 'of any version')
  t.strictSame(readFault(body, fields('Mcp-Method', 'tools/call', 'Mcp-Method', 'tools/call')), refused, 'twice')
  t.strictSame(readFault(body, fields('Mcp-Method', 'tools/call', 'Mcp-Name', 'search\xe9')), refused, 'not ASCII')
  t.strictSame(readFault(call('caf\xe9', 1), fields('Mcp-Method', 'tools/call', 'Mcp-Name', 'caf\xe9')), refused)
  t.strictSame(readFault([body], fields('Mcp-Method', 'tools/call')), refused, 'no header is about a batch')
  t.strictSame(readFault([body], fields('Mcp-Name', 'search')), refused)
  t.strictSame(readFault({ jsonrpc: '2.0', id: 1, result: {} }, fields('Mcp-Method', 'tools/list')), refused)
  const meta = {
    ...body,
    params: { name: 'search', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
  }
  t.equal(readFault(meta, MODERN), undefined)
  t.strictSame(readFault(meta, [...JSON_TYPE, 'MCP-Protocol-Version', '2025-11-25']), refused)
  t.match(read(body, fields('Mcp-Method', 'tools/list'))?.ids, [1], 'the answer has the id')
})

t.test('names that no header can have are Base64', async (t) => {
  const named = (name: string, header: string) =>
    readFault(call(name, 1), [...MODERN, 'Mcp-Method', 'tools/call', 'Mcp-Name', header])
  t.equal(named('Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='), undefined)
  t.equal(named(' padded ', '=?base64?IHBhZGRlZCA=?='), undefined)
  t.equal(named('=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='), undefined)
  t.equal(named('\ufeffa', '=?base64?77u/YQ==?='), undefined)
  t.strictSame(named('a', '=?base64?77u/YQ==?='), [400, -32020])
  t.equal(named('=?BASE64?YQ==?=', '=?BASE64?YQ==?='), undefined, 'the marks have a case')
  t.strictSame(named('a', '=?base64?Yg==?='), [400, -32020])
  t.strictSame(named('a', '=?base64?YQ?='), [400, -32020], 'without its padding')
  t.strictSame(named('a', '=?base64?%%%%?='), [400, -32020])
  t.strictSame(named('\ufffd', '=?base64?/w==?='), [400, -32020], 'not UTF-8')
})

t.test('a body that two servers could read differently is refused', async (t) => {
  const invalid = [400, -32600]
  const text = (members: string) => `{"jsonrpc":"2.0","id":1,${members}}`
  for (const members of [
    '"method":"tools/list","method":"tools/call","params":{"name":"a"}',
    '"method":"tools/list","Method":"tools/call","params":{"name":"a"}',
    '"method":"tools/list","metho\\u0064":"tools/call"',
    '"METHOD":"tools/call","method":"tools/list"',
    '"method":"tools/call","params":{"name":"a","name":"b"}',
    '"method":"tools/call","params":{"name":"a","Name":"b"}',
    '"method":"tools/call","params":{"name":"a"},"param\u017f":{"name":"b"}',
    '"method":"tools/call","params":{"Name":"a"}',
    '"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}',
    '"method":"tools/list","jsonrpc":"1.0"',
  ]) {
    t.strictSame(readFault(text(members)), invalid, members)
    t.strictSame(readFault(`[${text(members)}]`), invalid, `batch of ${members}`)
  }
  for (const members of [
    '"method":"tools/call","params":{"name":"a","arguments":{"name":"b","Name":"c","method":"d","method":"e"}}',
    '"method":"tools/call","params":{"name":"a","arguments":[{"method":"a","method":"b"}]}',
    '"method":"tools/list","x":{"name":"a","name":"b"}',
    '"method":"tools/call","params":{"name":"\\"name\\":{[","arguments":[{"name":1},{"name":2}]}',
  ]) {
    t.equal(readFault(text(members)), undefined, members)
  }
})

t.test('malformed bodies are answered as JSON-RPC has it', async (t) => {
  const invalid = [400, -32600]
  t.strictSame(readFault('{"jsonrpc":"2.0",'), [400, -32700])
  t.strictSame(readFault(''), [400, -32700])
  t.strictSame(
    readFault('nothing', [...MODERN.slice(2), 'Content-Type', 'text/plain']),
    [400, -32700],
    'a header says MCP',
  )
  t.strictSame(readMcpRequest(JSON_TYPE, { bytes: Buffer.from([0x22, 0xff, 0x22]) })?.fault?.code, -32700)
  t.strictSame(readFault([], MODERN), invalid)
  t.strictSame(readFault([1], MODERN), invalid)
  t.strictSame(readFault([[call('a')]], MODERN), invalid)
  t.strictSame(readFault({}, MODERN), invalid)
  t.strictSame(readFault({ jsonrpc: '2.0', id: 1 }), invalid)
  t.strictSame(readFault({ jsonrpc: 2, method: 'tools/call' }), invalid)
  t.strictSame(readFault({ method: 'tools/call', params: { name: 'a' } }), invalid, 'without jsonrpc')
  t.strictSame(readFault({ jsonrpc: '2.0', method: ['tools/call'] }), invalid)
  t.strictSame(readFault([{ method: { toString: 1 } }, call('a')]), invalid, 'a text that JavaScript cannot write')
  t.strictSame(readFault([null, call('a')]), invalid)
  t.strictSame(readFault({ jsonrpc: '2.0', method: 'tools/call', params: ['a'] }), invalid)
  t.strictSame(readFault({ jsonrpc: '2.0', method: 'tools/call', params: { name: ['a'] } }), invalid)
  t.equal(readFault(Array.from({ length: 100 }, () => call('a'))), undefined)
  t.strictSame(readFault(Array.from({ length: 101 }, () => call('a'))), invalid)
  t.equal(readFault(`\ufeff${JSON.stringify(call('a'))}`), undefined, 'a byte order mark')
  const deep = `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a","arguments":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`
  t.match(read(deep), { calls: [{ name: 'a' }] }, 'a nesting of thousands')
})

t.test('nothing is read that a server would read otherwise', async (t) => {
  const body = call('a', 1)
  for (const fields of [
    ['Content-Encoding', 'gzip'],
    ['Content-Encoding', 'identity', 'content-encoding', 'br'],
    ['Content-Type', 'application/json; charset=utf-7'],
    ['Content-Type', `application/json; charset${' '.repeat(20)}=utf-7`],
    ['Content-Type', "application/json; charset*=utf-7''"],
    ['Content-Type', 'application/json; charset=utf-8; charset=utf-7'],
    ['Content-Type', 'application/json; charset="utf-16le"'],
  ]) {
    t.strictSame(readFault(body, fields), [415, 415], fields.join(' '))
  }
  for (const type of ['application/json; charset=UTF-8', 'application/json;charset="utf8"']) {
    t.equal(readFault(body, ['Content-Type', type, 'Content-Encoding', 'identity']), undefined, type)
  }
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
    [...version],
    [...version, 'Mcp-Method', 'tools/call'],
    [...version, 'Mcp-Method', 'tools/list', 'Mcp-Method', 'tools/call'],
    [],
  ]) {
    t.match(unseen(...fields), { calls: [], fault: { status: 400, code: -32020 } }, fields.join(' '))
  }
})
