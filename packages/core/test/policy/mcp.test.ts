import t from 'tap'
import { countBuckets } from '../../src/counting/keys.ts'
import { compilePolicy, type InspectionRequest, type Policy, policyFaults, type Rule } from '../../src/index.ts'
import type { McpFault, McpRequest } from '../../src/values/mcp.ts'
import { CHROME, makeFields, makeRequest } from '../agents.ts'
import { openGate } from './gate.ts'

const TOO_LARGE: McpFault = { status: 413, code: 413, message: 'Too large.' }

function calls(...names: string[]): McpRequest {
  return { calls: names.map((name) => ({ method: 'tools/call', name })), ids: [1], isBatch: names.length > 1 }
}

function post(mcp?: McpRequest, more: Partial<InspectionRequest> = {}): InspectionRequest {
  const fields = [...makeFields(CHROME), 'Content-Type', 'application/json']
  return makeRequest(fields, { method: 'POST', target: '/mcp', peer: '8.9.0.1', ...(mcp && { mcp }), ...more })
}

function gate(rules: readonly Rule[], more: Partial<Policy> = {}) {
  const { inspector, ask } = openGate({ rules, ...more })
  const decide = (request: InspectionRequest) => inspector.decide(request)
  const action = (request: InspectionRequest) => decide(request).action
  const count = async (request: InspectionRequest) => (await ask(request)).decision
  return { inspector, decide, action, count }
}

const NO_DELETE: Rule = { id: 'no-delete', match: { mcp: { name: ['delete_*'] } }, action: 'block' }

t.test('a rule matches calls by method and name, which both hold for one call', async (t) => {
  const { action } = gate([{ ...NO_DELETE, match: { mcp: { method: ['tools/call'], name: ['delete_*'] } } }])
  t.equal(action(post(calls('search'))), 'allow')
  t.equal(action(post(calls('delete_all'))), 'block')
  t.equal(action(post(calls('search', 'delete_all', 'search'))), 'block', 'one call of a batch is enough')
  const prompt = { method: 'prompts/get', name: 'delete_all' }
  t.equal(action(post({ calls: [prompt], ids: [1], isBatch: false })), 'allow')
  t.equal(action(post({ calls: [prompt, { method: 'tools/call', name: 'a' }], ids: [1], isBatch: true })), 'allow')
  t.equal(action(post()), 'allow', 'no request of MCP')
})

t.test('a permission needs every call, and a negation is its opposite', async (t) => {
  const search = { mcp: { method: ['tools/call'], name: ['search'] } }
  const { action } = gate([{ id: 'only-search', match: search, action: 'allow' }], { default: 'block' })
  t.equal(action(post(calls('search', 'search'))), 'allow')
  t.equal(action(post(calls('search', 'other'))), 'block')
  t.equal(action(post(calls())), 'block')
  t.equal(action(post()), 'block')
  t.equal(action(post({ ...calls('search'), fault: TOO_LARGE })), 'block')

  const others = gate([{ id: 'others', match: { not: { mcp: { name: ['search'] } } }, action: 'block' }])
  t.equal(others.action(post(calls('search'))), 'allow')
  t.equal(others.action(post(calls('search', 'other'))), 'block')
  t.equal(others.action(post()), 'block')
})

t.test('what cannot be read is refused by the first rule that reads calls, and only there', async (t) => {
  const padded = post({ calls: [], ids: [1], isBatch: false, fault: TOO_LARGE })
  const { decide } = gate([NO_DELETE])
  t.match(decide(padded), { action: 'block', status: 413, enforced: true, reasons: [{ id: 'policy:no-delete' }] })
  t.match(decide(padded).reasons[0]?.text, 'the calls of this request cannot be read. Too large.')
  const search = { match: {}, limit: { key: 'tool', max: 9, window: '1m' }, action: 'throttle' } as const
  t.match(gate([{ id: 'per-tool', ...search }]).decide(padded), { action: 'block', status: 413 })
  t.equal(gate([{ id: 'a', match: { path: ['/mcp'] }, action: 'allow' }, NO_DELETE]).action(padded), 'allow')
  t.equal(gate([NO_DELETE], { allowlist: ['8.9.0.1'] }).action(padded), 'allow', 'an allowlisted address')
  t.equal(gate([{ ...NO_DELETE, match: { path: ['/other'], ...NO_DELETE.match } }]).action(padded), 'allow')
  t.match(gate([{ ...NO_DELETE, monitor: true }]).decide(padded), { action: 'allow', trial: { rule: 'no-delete' } })
  t.equal(gate([{ ...NO_DELETE, action: 'flag' }]).action(padded), 'flag')
  t.equal(gate([{ id: 'per-tool', ...search, action: 'flag' }]).action(padded), 'allow')
  t.equal(gate([{ id: 'ask', match: { path: ['/**'] }, action: 'flag' }]).action(padded), 'flag', 'no rule reads calls')
  const few = { id: 'few', match: {}, limit: { key: 'client', max: 9, window: '1m' }, action: 'throttle' } as const
  t.equal(gate([few, { ...NO_DELETE, action: 'flag' }]).action(padded), 'flag', 'a limit of requests reads no calls')
  const { inspector } = gate([NO_DELETE])
  const other = compilePolicy({ preset: 'observe', rules: [] })
  t.equal(inspector.decide(padded, { policy: other }).action, 'allow')
})

t.test('a body is asked for where a rule reads calls of its path', async (t) => {
  const get = post(undefined, { method: 'GET' })
  const none = gate([{ id: 'any', match: { path: ['/mcp'] }, action: 'flag' }]).inspector
  t.notOk(none.readsCalls(post()), 'no rule reads calls')
  for (const rule of [
    NO_DELETE,
    { ...NO_DELETE, match: { not: { mcp: { name: ['a'] } } } },
    { id: 'per-tool', match: {}, limit: { key: ['client', 'tool'], max: 1, window: '1m' }, action: 'throttle' },
    { id: 'open', match: {}, concurrent: { key: 'tool', max: 1 }, action: 'block' },
  ] as const) {
    const { inspector } = gate([rule])
    t.ok(inspector.readsCalls(post()))
    t.notOk(inspector.readsCalls(get))
    t.notOk(inspector.readsCalls(post(undefined, { fields: ['Content-Type', 'image/png'] })))
    t.notOk(inspector.readsCalls(post(), { policy: compilePolicy({ preset: 'observe', rules: [] }) }))
  }
  const { inspector } = gate([{ ...NO_DELETE, match: { path: ['/mcp', '/x/**'], ...NO_DELETE.match } }])
  t.ok(inspector.readsCalls(post()))
  t.ok(inspector.readsCalls(post(undefined, { target: '/%6dcp?a=1' })), 'another spelling')
  t.ok(inspector.readsCalls(post(undefined, { target: '/x/y' })))
  t.notOk(inspector.readsCalls(post(undefined, { target: '/api' })))
})

t.test('a limit of some calls counts those of a batch', async (t) => {
  const match = { mcp: { method: ['tools/call'], name: ['search'] } }
  const limit = { key: 'client', max: 10, window: '1h', kind: 'fixed' } as const
  const { count } = gate([{ id: 'searches', match, limit, cost: 2, action: 'throttle' }])
  t.match((await count(post(calls('search', 'other', 'search')))).limits, [{ used: 4 }])
  t.match((await count(post(calls('search', 'search', 'search')))).limits, [{ used: 10 }])
  t.equal((await count(post(calls('search')))).action, 'throttle')
  t.equal((await count(post(calls('other')))).action, 'allow')

  const tools = gate([{ id: 'searches', match, limit: { ...limit, key: 'tool' }, action: 'throttle' }])
  t.match((await tools.count(post(calls('search', 'other')))).limits, [{ used: 1 }])
  t.equal((await tools.count(post(calls('search', 'other')))).limits?.length, 1, 'a tool that does not match is not')
  const per = gate([{ id: 'tools', match: {}, limit: { ...limit, max: 2, key: 'tool' }, action: 'throttle' }])
  t.equal((await per.count(post(calls('a')))).action, 'allow')
  t.equal((await per.count(post(calls('a', 'a')))).action, 'throttle', 'a batch of which one call does not fit')
  t.equal((await per.count(post(calls('a')))).action, 'allow', 'took nothing')
  const ten = gate([{ id: 'ten', match: { mcp: {} }, limit, action: 'throttle' }])
  t.match((await ten.count(post(calls(...Array<string>(10).fill('a'))))).limits, [{ used: 10, exceeded: false }])
  t.equal((await ten.count(post(calls('a')))).action, 'throttle')
})

t.test('a caller is who signed, else the user, else the client', async (t) => {
  const limit = { key: 'caller', max: 1, window: '1h', kind: 'fixed' } as const
  const { count } = gate([{ id: 'each', match: {}, limit, action: 'throttle' }])
  const from = (peer: string, user?: string, session = 'one') => {
    const request = post(calls('a'), { peer, user })
    return { ...request, fields: [...request.fields, 'Mcp-Session-Id', session] }
  }
  t.equal((await count(from('8.9.0.1', 'ann'))).action, 'allow')
  t.equal((await count(from('8.9.0.2', 'ann', 'two'))).action, 'throttle', 'elsewhere and in another session')
  t.equal((await count(from('8.9.0.1', 'bob'))).action, 'allow')
  t.equal((await count(from('8.9.0.1'))).action, 'allow', 'nobody')
  t.equal((await count(from('8.9.0.1', undefined, 'three'))).action, 'throttle')
  t.equal((await count(from('8.9.0.4', '8.9.0.1'))).action, 'allow', 'a user named like an address')
  t.equal((await count(from('2a00:1450:1:2::1'))).action, 'allow')
  t.equal((await count(from('2a00:1450:1:2::2'))).action, 'throttle', 'a network of IPv6')
  const wide = gate([{ id: 'wide', match: {}, limit: { ...limit, key: ['tool', 'caller'] }, action: 'throttle' }])
  for (let at = 0; at < 16; at++) t.equal((await wide.count(from(`2a00:1450:1:${at}::1`))).action, 'allow')
  t.equal((await wide.count(from('2a00:1450:1:ffff::1'))).action, 'throttle', 'all networks of a /48')
})

t.test('a name that a signature proves comes before a user, and a mere claim of one does not', async (t) => {
  const { inspection } = gate([]).decide(post(calls('a'), { user: 'ann' }))
  const named = (verified: boolean) => {
    const identity = { type: 'signature', name: 'https://bot.example', verified } as const
    const signed = { ...inspection, agent: { ...inspection.agent, identity } }
    return countBuckets(['caller'], { inspection: signed, fields: [] }).map(({ key }) => key)
  }
  t.same(named(true), ['signed https://bot.example'])
  t.same(named(false), ['user ann'])
})

t.test('conditions on calls are checked', async (t) => {
  const faults = (mcp: object) => policyFaults({ preset: 'observe', rules: [{ ...NO_DELETE, match: { mcp } }] })
  t.same(faults({ method: ['tools/*'], name: ['/^db_/'] }), [])
  t.match(faults({ method: [''] }), [{ path: ['rules', 0, 'match', 'mcp', 'method', 0] }])
  t.match(faults({ name: ['/(/'] }), [{ path: ['rules', 0, 'match', 'mcp', 'name', 0] }])
})
