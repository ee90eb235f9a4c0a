import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { type RuleInput, startHost } from './every-host.ts'
import { HOSTS, type RunningHost, speaks } from './hosts.ts'
import { CLEAR_HTTP2, NO_OPENSSL, protocolsOverTls } from './protocols.ts'
import { ask, askAs, exchange, parseResponse, requestBytes, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Requests to an MCP server, in every host: their calls are read once, and the site behind gets the body as if it were unread. */
const NO_DELETE = {
  id: 'no-delete',
  match: { path: ['/mcp'], mcp: { method: ['tools/call'], name: ['delete'] } },
  action: 'block',
} satisfies RuleInput
const PER_TOOL = {
  id: 'per-tool',
  match: { path: ['/mcp'] },
  limit: { key: ['client', 'tool'], max: 3, window: '1h', kind: 'fixed' },
  action: 'throttle',
} satisfies RuleInput

const LIMIT = 64 * 1024

function call(name: string, id: number | undefined, more: object = {}) {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), method: 'tools/call', params: { name, ...more } }
}

/** An address that has asked nothing before. */
const newClient = (() => {
  let last = 0
  return () => `8.1.${++last >> 8}.${last & 255}`
})()

interface Sent {
  readonly target?: string | undefined
  readonly fields?: readonly string[] | undefined
  readonly client?: string | undefined
}

function post(at: RunningHost, sent: unknown, { target = '/mcp', fields = [], client = newClient() }: Sent = {}) {
  const body = typeof sent === 'string' ? sent : JSON.stringify(sent)
  const type = fields.some((name) => name === 'Content-Type') ? [] : ['Content-Type', 'application/json']
  return askAs(at, client, target, [...type, ...fields], { method: 'POST', body })
}

/** The body that the site behind has read. */
function bodyIn({ body }: WireResponse): unknown {
  return (JSON.parse(body) as { body?: unknown }).body
}

function errorIn({ body, headers }: WireResponse) {
  if (headers['content-type']?.startsWith('application/json') !== true) return undefined
  return JSON.parse(body) as { id?: unknown; error: { code: number; message: string; data: Record<string, unknown> } }
}

async function checkCalls(t: Test, at: RunningHost): Promise<void> {
  const search = call('search', 1)
  const passed = await post(at, search)
  t.equal(passed.status, 200)
  t.same(bodyIn(passed), search)
  const whole = call('search', 2, { arguments: 'x'.repeat(LIMIT - 120) })
  t.same(bodyIn(await post(at, whole)), whole, 'nearly as long as may be')

  const refused = await post(at, call('delete', 'seven' as never))
  t.equal(refused.status, 403)
  t.match(errorIn(refused), { jsonrpc: '2.0', id: 'seven', error: { code: 403, data: { error: 'request_blocked' } } })
  t.equal(errorIn(refused)?.error.data['requestId'], refused.headers['x-request-id'])
  const batch = await post(at, [call('search', 1), call('delete', 2), call('search', undefined)])
  t.equal(batch.status, 403)
  t.match(JSON.parse(batch.body), [
    { id: 1, error: { code: 403 } },
    { id: 2, error: { code: 403 } },
  ])
  t.equal((await post(at, call('delete', 1), { target: '/api' })).status, 200, 'a rule reads its own paths')
  t.equal((await post(at, { name: 'delete', method: 'POST' })).status, 200, 'JSON that is no JSON-RPC')
}

async function checkCounts(t: Test, at: RunningHost): Promise<void> {
  const client = newClient()
  t.equal((await post(at, [call('search', 1), call('search', 2), call('other', 3)], { client })).status, 200)
  t.equal((await post(at, call('search', 4), { client })).status, 200)
  const refused = await post(at, call('search', 5), { fields: ['Mcp-Session-Id', 'another'], client })
  t.equal(refused.status, 429)
  t.match(errorIn(refused), { id: 5, error: { code: 429, data: { error: 'rate_limit_exceeded' } } })
  t.equal(errorIn(refused)?.error.data['retryAfter'], Number(refused.headers['retry-after']))
  t.ok(Number(refused.headers['retry-after']) > 3_000)
  t.equal((await post(at, call('other', 6), { client })).status, 200)
  t.equal((await post(at, { jsonrpc: '2.0', id: 7, method: 'tools/list' }, { client })).status, 200)
}

async function checkHidden(t: Test, at: RunningHost): Promise<void> {
  const MODERN = ['MCP-Protocol-Version', '2026-07-28']
  const hidden = await post(at, call('delete', 9), { fields: [...MODERN, 'Mcp-Method', 'tools/list'] })
  t.equal(hidden.status, 400)
  t.match(errorIn(hidden), { id: 9, error: { code: -32020 } })
  const agreeing = [...MODERN, 'Mcp-Method', 'tools/call', 'Mcp-Name', 'search']
  t.equal((await post(at, call('search', 1), { fields: agreeing })).status, 200)
  t.equal((await post(at, call('delete', 1), { fields: agreeing })).status, 400)

  const padded = await post(at, call('delete', 1, { arguments: 'x'.repeat(LIMIT) }), { fields: agreeing })
  t.equal(padded.status, 413)
  t.match(errorIn(padded), { error: { code: 413 } })
  t.notOk(errorIn(padded)?.id)
  const other = await post(at, `{"name":"${'x'.repeat(LIMIT)}"}`, { target: '/api' })
  t.equal(other.status, 200, 'elsewhere bodies may be as long as they like')

  const zipped = await post(at, call('search', 1), { fields: ['Content-Encoding', 'gzip'] })
  t.equal(zipped.status, 415)
  t.match(errorIn(zipped), { error: { code: 415 } })
  t.equal(zipped.headers['accept-encoding'], 'identity')
  t.match(errorIn(await post(at, '{"jsonrpc":"2.0"')), { error: { code: -32700 } })
  t.equal((await post(at, call('delete', 1), { fields: ['Content-Type', 'text/plain'] })).status, 403)
}

async function checkPieces(t: Test, at: RunningHost): Promise<void> {
  const pieces = ['{"jsonrpc":"2.0","id":1,', '"method":"tools/call","params":{"name":"sea', 'rch"}}']
  const passed = parseResponse(await sendChunks(at, pieces))
  t.equal(passed.status, 200)
  t.match(bodyIn(passed), call('search', 1))
  const deleting = pieces.map((one) => one.replace('sea', 'del').replace('rch', 'ete'))
  t.equal(parseResponse(await sendChunks(at, deleting)).status, 403)
  const declared = requestBytes('POST', '/mcp', ['Content-Type', 'application/json', 'Content-Length', `${LIMIT + 1}`])
  t.equal(parseResponse(await exchange(at.port, declared)).status, 413, 'before its first byte')
  const endless = parseResponse(await sendChunks(at, [...pieces.slice(0, 2), 'x'.repeat(LIMIT)], false))
  t.equal(endless.status, 413)
}

/** Sends each piece once the one before is on its way; an unfinished body ends with the answer. */
async function sendChunks(at: RunningHost, pieces: readonly string[], isFinished = true): Promise<string> {
  const socket = connect(at.port, '127.0.0.1')
  const received = collect(socket)
  const fields = ['Content-Type', 'application/json', 'X-Forwarded-For', newClient()]
  const head = requestBytes('POST', '/mcp', [...fields, 'Transfer-Encoding', 'chunked', 'Connection', 'close'])
  const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
  for (const piece of [head, ...chunks, ...(isFinished ? ['0\r\n\r\n'] : [])]) {
    await new Promise((resolve) => socket.write(piece, resolve))
  }
  return received
}

async function collect(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  socket.on('error', () => {})
  await once(socket, 'close')
  return received
}

const CHECKS = {
  'a call is matched by its body, which is handed on': checkCalls,
  'calls are counted by tool, and each of a batch counts': checkCounts,
  'what hides a call is refused as the specification has it': checkHidden,
  'a body in pieces is read to its end': checkPieces,
}

const POLICY = { preset: 'observe', rules: [NO_DELETE, PER_TOOL] } satisfies ConfigInput['policy']

t.test('in every host', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  for (const host of HOSTS) {
    await t.test(host.name, async (t) => {
      const at = await startHost(t, host, sallyport)
      for (const [name, check] of Object.entries(CHECKS)) await t.test(name, (t) => check(t, at))
    })
  }
})

t.test('monitor mode refuses nothing, and hands on what it could not read', async (t) => {
  const sallyport = await openWithoutData(t, { mode: 'monitor', policy: { ...POLICY, rules: [NO_DELETE] } })
  // Parsers of hosts have limits of their own.
  for (const host of HOSTS.filter(({ parsesBodies }) => !parsesBodies)) {
    await t.test(host.name, async (t) => {
      const at = await startHost(t, host, sallyport)
      const padded = call('delete', 1, { arguments: 'x'.repeat(3 * LIMIT) })
      t.same(bodyIn(await post(at, padded)), padded)
      const pieces = JSON.stringify(padded).match(/.{1,50000}/g) ?? []
      t.same(bodyIn(parseResponse(await sendChunks(at, pieces))), padded)
    })
  }
})

t.test('over HTTP/2', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  // The proxy speaks it over TLS alone.
  const protocols = [CLEAR_HTTP2, ...(NO_OPENSSL ? [] : protocolsOverTls(t).filter(({ http2 }) => http2))]
  for (const protocol of protocols) {
    for (const host of HOSTS.filter((one) => speaks(one, protocol))) {
      await t.test(`${host.name}, ${protocol.name}`, async (t) => {
        const at = await host.start(sallyport, '', {}, protocol)
        t.teardown(() => at.close())
        const send = (body: unknown) => {
          const fields = ['content-type', 'application/json', 'x-forwarded-for', newClient()]
          return ask(at.port, protocol, { method: 'POST', target: '/mcp', fields, body: JSON.stringify(body) })
        }
        const search = call('search', 1, { arguments: 'x'.repeat(40_000) })
        t.same(bodyIn(await send(search)), search)
        const refused = await send(call('delete', 4))
        t.equal(refused.status, 403)
        t.match(errorIn(refused), { id: 4, error: { code: 403 } })
        t.equal((await send(call('delete', 4, { arguments: 'x'.repeat(LIMIT) }))).status, 413)
      })
    }
  }
})
