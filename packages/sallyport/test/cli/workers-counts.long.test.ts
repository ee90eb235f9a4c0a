import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { OUTCOMES } from '@sallyport/core'
import { type LogLine, readEntry } from '@sallyport/engine'
import t from 'tap'
import { ask, start, until, workspace } from './command.ts'

const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--trust-proxy', 'loopback']
const REQUESTS = 10_000
const CONNECTIONS = 16

/** Half of the requests are under the first, the others under the second: `seen` decides something else then, and `gone` is gone. */
const policy = (seen: string, more: string) => `policy:
  rules:
    - { id: try, match: { path: [/plain] }, action: block, monitor: true }
    - { id: seen, match: { path: [/seen] }, action: ${seen} }
    - { id: often, match: { path: [/often] }, action: throttle, limit: { key: client, max: 3, window: 1m } }
    - { id: ask, match: { path: [/ask] }, action: challenge }
${more}
`
const FIRST = policy('flag', '    - { id: gone, match: { path: [/shut] }, action: block }')
const SECOND = policy('block', '    - { id: new, match: { path: [/shut] }, action: block }')

t.test('metrics, console and log have the same counts of two workers, over a reload that replaces rules', async (t) => {
  const { config, folder } = workspace(t, ['demo: true'])
  const file = join(folder, 'all.log')
  const before = `${readFileSync(config, 'utf8')}log: { file: ${file}, requests: all }\n`
  writeFileSync(config, before + FIRST)
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '2'])
  await proxy.says('with the token in')
  const url = new URL(/Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? 'http://none')
  const admin = /Console at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const token = readFileSync(/with the token in (\S+)/.exec(proxy.err())?.[1] ?? '', 'utf8').trim()
  const console = async (path: string) =>
    (await ask(`${admin}/console/api/${path}`, { authorization: `Bearer ${token}` })).json
  await until(async () => (await console('health'))['processes'] === 2)

  await visitAll(url, 0)
  writeFileSync(config, before + SECOND)
  proxy.child.kill('SIGHUP')
  await proxy.says('applied')
  await visitAll(url, REQUESTS / 2)

  const entries = () => requestsIn(file)
  await until(() => entries().length >= REQUESTS)
  const logged = entries()
  t.equal(logged.length, REQUESTS, 'every request has its line')
  const metrics = async () => (await fetch(`${admin}/metrics`)).text()
  await until(async () => sumSamples(await metrics(), 'sallyport_request_seconds_count') === REQUESTS)
  const text = await metrics()

  // A challenge that its client cannot show is a refusal in counts.
  const counted = logged.map((line) => (line.challenge === 'program' ? { ...line, action: 'block' } : line))
  const decided = counted.filter(({ action }) => action !== undefined)
  const lines = countBy(
    decided,
    ({ action, enforced, class: who, networkClass }) => `${action} ${enforced} ${who} ${networkClass}`,
  )
  t.same(splitLines(text, 'sallyport_decisions_total', ['action', 'enforced', 'class', 'network_class']), lines)
  const rules = countBy(decided, ({ rule, action }) => `${rule} ${action}`)
  const trials = countBy(
    decided.filter(({ trial }) => trial !== undefined),
    ({ trial, trialRule }) => `${trialRule} trial:${trial}`,
  )
  t.same(splitLines(text, 'sallyport_rule_matches_total', ['rule', 'action']), { ...rules, ...trials })
  for (const known of ['seen flag', 'seen block', 'gone block', 'new block', 'often throttle', 'try trial:block'])
    t.ok(({ ...rules, ...trials }[known] ?? 0) > 0, known)

  const outcomes = countBy(counted, ({ action, answeredBy }) => action ?? (answeredBy === 'api' ? 'api' : 'refused'))
  const { totals, silent } = await console('live?span=1h')
  t.match(
    { totals, silent },
    { totals: { ...Object.fromEntries(OUTCOMES.map((name) => [name, 0])), ...outcomes }, silent: 0 },
  )
  // A redirect takes a proven crawler (test/hosts/say-and-enforce.test.ts), a challenge a browser (challenges-observed.long.test.ts), an offer
  // a licence (test/hosts/offers.test.ts).
  const isElsewhere = (name: string): boolean => ['redirect', 'challenge', 'offer'].includes(name)
  for (const outcome of OUTCOMES.filter((name) => !isElsewhere(name))) t.ok((outcomes[outcome] ?? 0) > 0, outcome)
  proxy.child.kill('SIGINT')
  t.equal(await proxy.ended, 0)
})

const PATHS = ['/plain', '/seen', '/shut', '/often', '/ask', '/v1/myip', '/', '/nothing-here'] as const

/** Half of all requests, on kept connections; some leave before their answer, some upload and leave, some are no HTTP. */
async function visitAll(url: URL, first: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let next = first
  const lane = async () => {
    for (let at = next++; at < first + REQUESTS / 2; at = next++) {
      if (at % 97 === 0) await leaveUploading(url)
      else if (at % 89 === 0) await sendNonsense(url)
      else await visit(agent, url, at)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  agent.destroy()
}

async function visit(agent: Agent, { hostname, port }: URL, at: number): Promise<void> {
  // The address is not reserved, and no host there receives a request.
  const headers = { 'x-forwarded-for': `23.5.0.${at % 200}`, 'user-agent': at % 3 === 0 ? 'curl/8.5.0' : 'Mozilla/5.0' }
  const sent = request({ agent, hostname, port, path: PATHS[at % PATHS.length], headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
}

async function leaveUploading({ hostname, port }: URL): Promise<void> {
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    'POST /plain HTTP/1.1\r\nHost: here.example\r\nX-Forwarded-For: 23.5.0.1\r\nContent-Length: 1000000\r\n\r\nbegun',
  )
  // The end comes behind all that was written.
  socket.end()
  socket.resume()
  await once(socket, 'close')
}

async function sendNonsense({ hostname, port }: URL): Promise<void> {
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n')
  socket.resume()
  await once(socket, 'close')
}

function requestsIn(file: string): readonly LogLine[] {
  const entries = readFileSync(file, 'utf8').trimEnd().split('\n').map(readEntry)
  return entries.flatMap((entry) => (entry !== undefined && 'path' in entry ? [entry] : []))
}

function countBy<One>(all: readonly One[], key: (one: One) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const one of all) counts[key(one)] = (counts[key(one)] ?? 0) + 1
  return counts
}

/** Returns the values of a metric by the values of some labels. */
function splitLines(text: string, name: string, labels: readonly string[]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const [, written = '', value] of text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const key = labels.map((label) => new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(written)?.[1] ?? '').join(' ')
    found[key] = (found[key] ?? 0) + Number(value)
  }
  return found
}

function sumSamples(text: string, name: string): number {
  return Object.values(splitLines(text, name, [])).reduce((sum, value) => sum + value, 0)
}
