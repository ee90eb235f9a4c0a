import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ObservedRequest } from '@sallyport/core'
import { VERDICT_NAMES } from '@sallyport/node/internal'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { callerOf, type Described, described, encoded, type Named } from './ext-authz-client.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, statusOf } from './wire.ts'

/** A proxy that Envoy asks both ways. */
async function asked(
  t: Test,
  { trust = ['loopback'], ...options }: ProxyOptions & { readonly trust?: readonly string[] | undefined } = {},
) {
  const observed: ObservedRequest[] = []
  const notices: string[] = []
  const sallyport = Object.assign(fakeSallyport({ trust }), { observe: (one: ObservedRequest) => observed.push(one) })
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    extAuthz: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    forwardAuth: 'envoy',
    onNotice: (line) => notices.push(line),
    ...options,
    timeouts: { drain: 100 },
  })
  t.teardown(() => proxy.close('cut'))
  const address = String(proxy.extAuthz)
  return { proxy, sallyport, observed, notices, address, caller: callerOf(t, address) }
}

t.test('an allowed visitor passes with the verdict, a blocked one gets our page', async (t) => {
  const { caller, sallyport, observed } = await asked(t)
  const allowed = await caller.about({ visitor: VISITOR.flagged, method: 'DELETE', target: '/a%20b/c?d=e' })
  t.equal(allowed.status, undefined)
  t.match(allowed.headers, {
    'sallyport-action': 'flag',
    'sallyport-network-class': 'hosting',
    'sallyport-bot-probability': /^[\d.]+$/,
  })
  t.ok(Object.values(allowed.headers).every((value) => value !== ''))
  t.same(
    new Set([...Object.keys(allowed.headers), ...allowed.removed]),
    new Set(VERDICT_NAMES),
    'what is not written is taken away, the signature too',
  )
  t.same(allowed.added, [])
  t.match(sallyport.asked[0], { method: 'DELETE', target: '/a%20b/c?d=e', scheme: 'https', peer: VISITOR.flagged })
  t.same(sallyport.asked[0]?.fields, ['Host', 'shop.example'])

  const blocked = await caller.about({ visitor: VISITOR.blocked, fields: [['accept', 'text/html']] })
  t.match(blocked, {
    status: 403,
    body: /<html/,
    headers: { 'content-type': /^text\/html/, 'sallyport-status': '403' },
  })
  t.equal(blocked.headers['content-length'], undefined)
  t.match(observed, [
    {
      method: 'DELETE',
      path: '/a%20b/c',
      host: 'shop.example',
      client: VISITOR.flagged,
      status: 200,
      answeredBy: 'host',
    },
    { status: 403, answeredBy: 'refusal', client: VISITOR.blocked },
  ])
})

t.test('fields come as they were, or in a map', async (t) => {
  const { caller, sallyport } = await asked(t)
  const fields: readonly Named[] = [
    ['user-agent', 'é'],
    ['__proto__', 'x'],
    ['accept', 'a'],
    ['accept', 'b'],
    ['content-length', '4'],
    ['x-forwarded-uri', '/forged'],
  ]
  t.equal((await caller.about({ fields })).status, undefined)
  t.same(sallyport.asked[0]?.fields, ['Host', 'shop.example', ...fields.slice(0, 4).flat()])
  t.equal((await caller.about({ fields: [['user-agent', 'x']], mapped: true })).status, undefined)
  t.same(sallyport.asked[1]?.fields, ['Host', 'shop.example', 'user-agent', 'x'])
})

t.test('the client is who connected to Envoy, unless that is a proxy that is trusted', async (t) => {
  const { caller, observed } = await asked(t, { trust: ['loopback', '10.0.0.0/8'] })
  const clientOf = async (request: Described): Promise<string | undefined> => {
    await caller.about(request)
    return observed.at(-1)?.client
  }
  const chain = (...addresses: readonly string[]): readonly Named[] => [['x-forwarded-for', addresses.join(', ')]]
  const visitor = VISITOR.allowed
  t.equal(await clientOf({ visitor, fields: chain(VISITOR.blocked) }), visitor, 'a client names nobody else')
  t.equal(await clientOf({ visitor, fields: chain(VISITOR.blocked, visitor) }), visitor, 'nor where Envoy appends')
  t.equal(await clientOf({ visitor: '10.0.0.1', fields: chain(VISITOR.flagged) }), VISITOR.flagged)
  t.equal(await clientOf({ visitor: '10.0.0.1', fields: chain(VISITOR.flagged, '10.0.0.1') }), VISITOR.flagged)
  t.equal(await clientOf({ visitor: '2001:db8::1' }), '2001:db8::1')
  const unread = { target: '/a/../b', fields: chain(VISITOR.blocked) }
  t.equal(await clientOf({ visitor, ...unread }), visitor, 'in the log of what was not judged too')
  t.ok(observed.every(({ peer }) => peer === '127.0.0.1'))
})

t.test('a caller that is not trusted is refused, and so is a call that names no request', async (t) => {
  const stranger = await asked(t, { trust: [] })
  t.match(await stranger.caller.about({}), { status: 403 })
  t.match(stranger.notices, [/trustProxy does not name 127\.0\.0\.1$/])
  t.same(stranger.sallyport.asked, [])

  const { caller, sallyport, observed } = await asked(t)
  const http = { method: 'GET', path: '/', host: 'shop.example' }
  const pipe = { address: { pipe: { path: '/run/x' } } }
  for (const message of [
    {},
    { attributes: {} },
    { attributes: { request: { http } } },
    { attributes: { request: { http }, source: pipe } },
    { attributes: { source: { address: { socket_address: { address: VISITOR.allowed } } } } },
    described({ host: '' }),
    described({ fields: [['x', 'a\r\nx-forwarded-for: 9.9.9.9']] }),
    described({ fields: [['x y', 'a']] }),
    described({ fields: [['', 'a']] }),
    described({ method: 'GET / HTTP/1.1\r\nx: y' }),
    described({ target: '/\r\n' }),
    Buffer.from('not a message at all'),
    Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    Buffer.alloc(0),
  ]) {
    t.match(await caller.ask(message), { status: 403, headers: { 'sallyport-status': '403' } }, JSON.stringify(message))
  }
  t.same(sallyport.asked, [])
  t.ok(observed.every(({ refusedFor }) => refusedFor === 'forward_auth'))
  t.equal((await caller.about({})).status, undefined, 'and the next one is answered')
})

t.test('a message of which a byte is another, or that is cut, is answered', async (t) => {
  const { caller } = await asked(t)
  const bytes = encoded(described({ fields: [['accept', 'text/html']] }))
  for (let at = 0; at < bytes.length; at += 5) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 0x85, at)
    for (const message of [changed, bytes.subarray(0, at)]) {
      const { status } = await caller.ask(message)
      if (status !== undefined && status < 400) t.fail(`${at}: ${status}`)
    }
  }
  t.equal((await caller.about({})).status, undefined)
})

t.test('a call is answered as the check over HTTP', async (t) => {
  const { caller, proxy } = await asked(t)
  const html: Named = ['accept', 'text/html']
  const requests: readonly Described[] = [
    {},
    { visitor: VISITOR.flagged, method: 'POST' },
    { visitor: VISITOR.blocked, fields: [html] },
    { visitor: VISITOR.blocked, fields: [['accept', 'application/json']] },
    { visitor: VISITOR.blocked, method: 'HEAD' },
    { target: '/a/%2e%2e/b', fields: [html] },
    { target: '/x/../double' },
    { target: '/.sallyport/check/x' },
    { target: '*', method: 'OPTIONS' },
    { target: '*' },
    { method: 'TRACE' },
    { target: `/${'x'.repeat(8_200)}` },
    { host: 'a b' },
    { fields: [['sallyport_action', 'allow']] },
    { fields: [['x_forwarded_for', '1.2.3.4']] },
    { fields: Array.from({ length: 101 }, (_, at): Named => [`x-${at}`, 'y']) },
    {
      fields: [
        ['cookie', 'a=1'],
        ['sallyport-signature', 'forged'],
      ],
    },
    {
      fields: [
        ['authorization', 'a'],
        ['authorization', 'b'],
      ],
    },
    { fields: [['expect', 'x']] },
  ]
  for (const [at, request] of requests.entries()) {
    const { visitor = VISITOR.allowed, method = 'GET', target = '/', host = 'shop.example', fields = [] } = request
    const named: readonly Named[] = [...fields, ['x-forwarded-for', visitor], ['x-request-id', `id-${at}`]]
    const call = await caller.about({ ...request, fields: named })
    const lines = [['Host', host], ['X-Forwarded-Proto', 'https'], ...named, ['Connection', 'close']]
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const answer = await exchange(proxy.url, `${method} /.sallyport/check${target} HTTP/1.1\r\n${head}\r\n`)
    const [shown = '', ...rest] = answer.split('\r\n\r\n')
    const headerOf = (name: string) => new RegExp(`\\r\\n${name}: (.*)`, 'i').exec(shown)?.[1]
    const said = JSON.stringify({ ...request, fields: fields.slice(0, 3) }).slice(0, 200)
    t.equal(call.status ?? 200, statusOf(answer), said)
    if (call.status === undefined) {
      const verdict = VERDICT_NAMES.flatMap((name) => (headerOf(name) ? [[name, headerOf(name)]] : []))
      t.same(call.headers, Object.fromEntries(verdict), said)
    } else {
      t.equal(call.body, rest.join('\r\n\r\n'), said)
      for (const name of ['content-type', 'sallyport-status', 'x-request-id', 'allow', 'cache-control'])
        t.equal(call.headers[name], headerOf(name), `${name}: ${said}`)
    }
  }
})

t.test('an overload is a refusal of its own status, and no call that failed', async (t) => {
  const { caller } = await asked(t, { limits: { eventLoopDelay: '20ms' } })
  let shed = await caller.about({})
  while (shed.status !== 503) {
    const until = performance.now() + 150
    while (performance.now() < until);
    shed = await caller.about({})
  }
  t.match(shed.headers, { 'retry-after': /^\d+$/, 'sallyport-status': '503' })
})

t.test('a call that nobody waits for is given up, and what fails in us is a refusal', async (t) => {
  const faults: unknown[] = []
  const { caller, sallyport, observed } = await asked(t, { onFault: (error) => faults.push(error) })
  const held: (() => void)[] = []
  sallyport.count = (decision) => new Promise((resolve) => held.push(() => resolve({ decision })))
  // On a busy machine the time of a call may be over before it is sent.
  while (held.length === 0) await t.rejects(caller.ask(described({}), undefined, 100), { code: 4 })
  while (observed.length === 0) await new Promise(setImmediate)
  t.match(observed[0], { status: 0, client: VISITOR.allowed })
  for (const end of held) end()
  delete sallyport.count
  t.equal((await caller.about({})).status, undefined)

  const { decide } = sallyport
  sallyport.decide = () => {
    throw new Error('thrown')
  }
  t.match(await caller.about({}), { status: 500, headers: { 'sallyport-status': '500' } })
  t.match(faults, [{ message: 'thrown' }])
  sallyport.decide = decide
  t.equal((await caller.about({})).status, undefined)
})

t.test('bytes that are no call end their connection, and nothing else', async (t) => {
  const { address, caller } = await asked(t)
  const port = Number(address.split(':')[1])
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnot a frame at all',
    '\0'.repeat(4_096),
  ]) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.resume()
    socket.write(bytes)
    await once(socket, 'close')
    t.equal((await caller.about({})).status, undefined)
  }
  await t.rejects(caller.ask({}, '/envoy.service.auth.v3.Authorization/Other'), { code: 12 })
  await t.rejects(caller.ask(Buffer.alloc((1 << 20) + 1)), { code: 8 })
  t.equal((await caller.about({})).status, undefined)
})

t.test('a proxy that closes ends the connections of callers', async (t) => {
  const { caller, proxy } = await asked(t)
  t.equal((await caller.about({})).status, undefined)
  await proxy.close('wait')
  await t.rejects(caller.about({}), { code: 14 })
})

t.test('it is nowhere unless it is named', async (t) => {
  const { proxy } = await asked(t, { extAuthz: undefined })
  t.equal(proxy.extAuthz, undefined)
  await t.rejects(asked(t, { extAuthz: 'here' }), { code: 'invalid_config' })
})

t.test("Envoy's example sends every field, and lets nothing pass where nobody answers", async (t) => {
  const file = join(import.meta.dirname, '../../../../examples/envoy/envoy-grpc.yaml')
  const { listeners, clusters } = parse(readFileSync(file, 'utf8')).static_resources
  const { http_filters: filters } = listeners[0].filter_chains[0].filters[0].typed_config
  t.match(filters[0].typed_config, {
    transport_api_version: 'V3',
    failure_mode_allow: false,
    encode_raw_headers: true,
    grpc_service: { envoy_grpc: { cluster_name: clusters[0].name } },
  })
})
