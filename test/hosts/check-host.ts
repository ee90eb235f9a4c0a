import type { Test } from 'tap'
import { apiRows } from './conformance-api.ts'
import { from, REQUEST_ID, type Row, readVerdict } from './conformance-row.ts'
import { BLOCKED, siteRows } from './conformance-site.ts'
import type { Host, RunningHost } from './host.ts'
import { HTTP1, type Protocol } from './protocols.ts'
import type { Scene, Visitor } from './scene.ts'
import { SPELLINGS } from './spellings.ts'
import { ask, exchange, parseResponse, requestBytes, upgrade, WEBSOCKET, type WireResponse } from './wire.ts'

/** Matches fields that hosts add, and fields that differ from one request to the next. */
const NOT_OURS = /^(?:date|connection|keep-alive|transfer-encoding|x-powered-by|etag|vary|server|x-ratelimit-.*)$/
/** Matches the time in the body of an answer. */
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
  for (const row of [...siteRows(scene), ...apiRows(scene)]) {
    const skip = notFor(row, host, over)
    if (skip === undefined) await check(t, row, host, row.mode ? monitoring : enforcing, base, expected, over)
    else t.pass(row.name, { skip })
  }
  await t.test('the judged path is the one that the site gets', (t) => checkPaths(t, scene, host, over))
  if (over.http2 || host.hasNoUpgrades) return
  await t.test('a blocked upgrade', (t) => checkRefusedUpgrade(t, scene, enforcing, expected, over))
  await t.test('an allowed upgrade', (t) => checkUpgrade(t, scene.allowed, enforcing, over))
  await t.test('monitor mode lets a blocked upgrade pass', (t) =>
    checkUpgrade(t, scene.blocked, monitoring, over, ENFORCED),
  )
}

async function checkPaths(t: Test, scene: Scene, host: Host, over: Protocol): Promise<void> {
  const judged: string[] = []
  const decide: typeof scene.enforcing.decide = (request) => {
    judged.push(request.target)
    return scene.enforcing.decide(request)
  }
  const at = await host.start({ ...scene.enforcing, decide }, '', {}, over)
  t.teardown(() => at.close())
  for (const target of SPELLINGS) {
    const fields = [...from(scene.allowed), 'Connection', 'close']
    const { status, body } = await ask(at.port, over, { method: 'GET', target, fields })
    // A host may refuse a spelling, judged or not. Rules judge each reading of a path, also its reading as a URL.
    const path = judged.at(-1) ?? ''
    const readings = [path, URL.canParse(path, 'http://a') ? new URL(path, 'http://a').pathname : path]
    if (status !== 200) t.ok([400, 404].includes(status), `${target}: ${status}`)
    else t.ok(readings.includes((parseJson(body) as { readonly target: string }).target), target)
  }
}

/** Says why a host cannot be asked a row. */
function notFor(row: Row, host: Host, over: Protocol): string | undefined {
  if (over.http2 && (row.absolute || row.twice)) return 'HTTP/2 has no such request'
  if (row.twice && host.hidesWire) return 'two fields of one name are one'
  if (row.unsent && host.readsBodiesFirst) return 'met by what reads bodies first'
  if (host.unknownMethods?.includes(row.method)) return 'met by the host itself'
  if (row.method === 'TRACE' && host.normalisesTargets) return 'no web request has this method'
  if (row.refusedByParsers && host.parsesBodies) return "met by the host's own parser"
  if (row.form && host.parsesNoForms) return 'the host has no parser for forms'
  if (row.inspectedFirst && host.answersApiFirst) return 'the API is answered first'
  return undefined
}

/** One assertion: the row's answer, and the bytes of the host that was there first. */
async function check(
  t: Test,
  row: Row,
  host: Host,
  at: RunningHost,
  base: string,
  expected: Map<string, WireResponse>,
  over: Protocol,
) {
  const path = row.api ? base + row.path : row.path
  const target = row.absolute ? `http://site.example${path}` : path
  // If the answer itself must close the connection, the request does not ask for it.
  const closing = row.headers?.['connection'] === 'close' ? [] : ['Connection', 'close']
  const fields = [...row.fields, 'X-Request-Id', REQUEST_ID, ...closing]
  const response = await ask(at.port, over, { method: row.method, target, fields, body: row.body })
  const hidden = host.hidesWire || over.http2 ? ['connection'] : []
  const headers = Object.entries({ ...row.headers, 'x-request-id': REQUEST_ID }).filter(
    ([name]) => !hidden.includes(name),
  )
  const first = expected.get(row.name) ?? response
  expected.set(row.name, first)
  const got = {
    status: response.status,
    headers: Object.fromEntries(headers.map(([name]) => [name, response.headers[name]])),
    json: row.json === undefined ? undefined : parseJson(response.body),
    missing: (row.includes ?? []).filter((text) => !response.body.includes(text)).join('\n'),
    asTheFirstHost: ours(response),
  }
  const { status, json } = row
  t.hasStrict(
    got,
    { status, headers: Object.fromEntries(headers), json, missing: '', asTheFirstHost: ours(first) },
    row.name,
  )
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Returns an answer as text, without fields that are not ours. */
function ours({ headers, body }: WireResponse): string {
  const kept = Object.entries(headers).filter(([name]) => !NOT_OURS.test(name))
  const fields = kept.map(([name, value]) => `${name}: ${value}`).sort()
  return [...fields, '', body.replace(AT, '')].join('\n')
}

const ENFORCED = ['sallyport-enforced', 'false']

function upgradeBytes(visitor: Visitor): string {
  const fields = ['X-Request-Id', REQUEST_ID, ...WEBSOCKET, 'sallyport_action', 'allow']
  return requestBytes('GET', '/socket', [...from(visitor), ...fields])
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
  t.equal(ours(response), ours(refusal), 'as any refusal')
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
  const verdict = [...readVerdict(visitor), ...more]
  t.equal(seen.fields.length, verdict.length, 'the site saw each field of ours once, and no other')
  t.same(Object.entries(seen.headers).flat().sort(), verdict.sort())
  const echoed = new Promise((resolve) => socket.once('data', resolve))
  socket.write('frame')
  t.equal(String(await echoed), 'frame', 'and bytes pass')
}
