import type { Test } from 'tap'
import { BLOCKED, conformanceRows, REQUEST_ID, type Row, verdictOf } from './conformance.ts'
import type { Host, RunningHost } from './hosts.ts'
import { HTTP1, type Protocol } from './protocols.ts'
import type { Scene, Visitor } from './scene.ts'
import { ask, exchange, parseResponse, requestBytes, upgrade, type WireResponse } from './wire.ts'

/** Fields that hosts add of their own accord, and those that differ from one request to the next. */
const NOT_OURS = /^(?:date|connection|keep-alive|transfer-encoding|x-powered-by|etag|vary|server|x-ratelimit-.*)$/
/** The time of an answer, in its body. */
const AT = /"at":"[^"]+"/g

/** Holds a host to the table, and to the bytes of the host that was there first, which `expected` keeps. */
export async function checkHost(
  t: Test,
  host: Host,
  scene: Scene,
  base: string,
  expected: Map<string, WireResponse>,
  over: Protocol = HTTP1,
): Promise<void> {
  const enforcing = await host.start(scene.enforcing, base, {}, over)
  t.teardown(() => enforcing.close())
  const monitoring = await host.start(scene.monitoring, base, {}, over)
  t.teardown(() => monitoring.close())
  for (const row of conformanceRows(scene)) {
    await t.test(row.name, (t) => check(t, row, host, row.mode ? monitoring : enforcing, base, expected, over))
  }
  if (over.http2) return
  await t.test('a blocked upgrade', (t) => checkRefusedUpgrade(t, scene, enforcing, expected, over))
  await t.test('an allowed upgrade', (t) => checkUpgrade(t, scene.allowed, enforcing, over))
  await t.test('monitor mode lets a blocked upgrade pass', (t) =>
    checkUpgrade(t, scene.blocked, monitoring, over, ENFORCED),
  )
}

async function check(
  t: Test,
  row: Row,
  host: Host,
  at: RunningHost,
  base: string,
  expected: Map<string, WireResponse>,
  over: Protocol,
) {
  if (over.http2 && (row.absolute || row.twice)) return t.pass('HTTP/2 has no such request')
  if (row.absolute && host.normalisesTargets) return t.pass('the runtime reads targets as URLs')
  if (row.twice && host.hidesWire) return t.pass('two fields of one name are one')
  if (host.unknownMethods?.includes(row.method)) return t.pass('met by the host itself')
  if (row.method === 'TRACE' && host.normalisesTargets) return t.pass('no web request has this method')
  if (row.refusedByParsers && host.parsesBodies) return t.pass("met by the host's own parser")
  if (row.form && host.parsesNoForms) return t.pass('the host has no parser for forms')
  if (row.inspectedFirst && host.answersApiFirst) return t.pass('the API is answered first')
  const path = row.api ? base + row.path : row.path
  const target = row.absolute ? `http://site.example${path}` : path
  // If the answer itself must close the connection, the request does not ask for it.
  const closing = row.headers?.['connection'] === 'close' ? [] : ['Connection', 'close']
  const fields = [...row.fields, 'X-Request-Id', REQUEST_ID, ...closing]
  const response = await ask(at.port, over, { method: row.method, target, fields, body: row.body })
  t.equal(response.status, row.status, response.body)
  if (!host.refusesBrokenEscapes || !row.brokenEscape) t.equal(response.headers['x-request-id'], REQUEST_ID)
  if (row.brokenEscape && host.refusesBrokenEscapes) return
  for (const [name, value] of Object.entries(row.headers ?? {})) {
    if (name === 'connection' && (host.hidesWire || over.http2)) continue
    t.equal(response.headers[name], value, name)
  }
  if (row.json !== undefined) t.hasStrict(JSON.parse(response.body), row.json)
  for (const text of row.includes ?? []) t.ok(response.body.includes(text), text)
  const first = expected.get(row.name)
  if (first === undefined) expected.set(row.name, response)
  else t.same(ours(response), ours(first), 'as the first host')
}

function ours({ headers, body }: WireResponse): unknown {
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_OURS.test(name))),
    body: body.replace(AT, ''),
  }
}

const ENFORCED = ['sallyport-enforced', 'false']
const UPGRADE = [
  ...['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13'],
  ...['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==', 'sallyport_action', 'allow'],
]

function upgradeBytes(visitor: Visitor): string {
  return requestBytes('GET', '/socket', ['X-Forwarded-For', visitor.address, 'X-Request-Id', REQUEST_ID, ...UPGRADE])
}

async function checkRefusedUpgrade(
  t: Test,
  scene: Scene,
  at: RunningHost,
  expected: Map<string, WireResponse>,
  { certificate }: Protocol,
) {
  const response = parseResponse(await exchange(at.port, upgradeBytes(scene.blocked), certificate !== undefined))
  t.equal(response.status, 403)
  t.equal(response.headers['connection'], 'close')
  t.equal(response.headers['x-seen'], undefined, "the site's listener did not run")
  const refusal = expected.get(BLOCKED)
  if (refusal === undefined) throw new TypeError(`the table has no row "${BLOCKED}"`)
  t.same(ours(response), ours(refusal), 'as any refusal')
}

async function checkUpgrade(
  t: Test,
  visitor: Visitor,
  at: RunningHost,
  { certificate }: Protocol,
  more: readonly string[] = [],
) {
  const { socket, head } = await upgrade(at.port, upgradeBytes(visitor), certificate !== undefined)
  t.teardown(() => socket.destroy())
  const response = parseResponse(head)
  t.equal(response.status, 101)
  const seen = JSON.parse(Buffer.from(response.headers['x-seen'] ?? '', 'base64').toString())
  const verdict = [...verdictOf(visitor), ...more]
  t.equal(seen.fields.length, verdict.length, 'the site saw each field of ours once, and no other')
  t.same(Object.entries(seen.headers).flat().sort(), verdict.sort())
  const echoed = new Promise((resolve) => socket.once('data', resolve))
  socket.write('frame')
  t.equal(String(await echoed), 'frame', 'and bytes pass')
}
