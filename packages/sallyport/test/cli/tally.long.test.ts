import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { readLine, readTallyFile, TALLY_FILE } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { FIREFOX, GPTBOT, listChildProcesses, openOrigin, serve, until, visit, workspace } from './command.ts'

/** `npm run fault` sends more requests. */
const REQUESTS = process.env['TEST_LENGTH'] === 'full' ? 200_000 : 10_000

const DAY_MS = 86_400_000

const POLICY = `policy:
  rules:
    - { id: try, match: { path: ['/trial/**'] }, action: challenge, monitor: true }
    - { id: shut, match: { path: ['/shut/**'] }, action: block }
`
const OTHER_POLICY = POLICY.replace('action: block', 'action: flag')

/** Fields that a browser sends beside its name. */
const BROWSER = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en', 'accept-encoding': 'gzip' }

/** Writes the visit of client `at` of many, who asks through a trusted proxy. */
function writeVisit(at: number) {
  const paths = ['/', `/orders/${at}`, '/shut/door', '/404/gone', '/about', `/502/${at}`, '/trial/page', '/style.css']
  const client = `91.${at % 2}.${at % 50}.${at % 240}`
  const name = at % 11 === 0 ? GPTBOT : at % 13 === 0 ? 'curl/8.5.0' : FIREFOX
  const headers = { ...BROWSER, 'user-agent': name, 'x-forwarded-for': client }
  return { path: paths[at % paths.length] as string, headers }
}

/** Sends requests `from` to `until` over some connections; resolves when each was answered, or its connection ended. */
async function send(url: string, from: number, until: number, connections = 32): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = from
  const one = async (): Promise<void> => {
    for (let at = next++; at < until; at = next++) {
      const { path, headers } = writeVisit(at)
      await new Promise<void>((resolve) => {
        const sent = request(`${url}${path}`, { agent, headers }, (response) => {
          response.resume().on('close', resolve)
        })
        sent.on('error', () => resolve()).end()
      })
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  agent.destroy()
}

function countBy<One>(all: readonly One[], readKey: (one: One) => string, readCount = (_: One): number => 1) {
  const sums: Record<string, number> = {}
  for (const one of all) sums[readKey(one)] = (sums[readKey(one)] ?? 0) + readCount(one)
  return sums
}

/** Reads the values of a metric by the values of some labels. */
function countSamples(text: string, name: string, ...labels: readonly string[]) {
  const samples = [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))]
  return countBy(
    samples,
    ([, written = '']) => labels.map((label) => new RegExp(`\\b${label}="([^"]*)"`).exec(written)?.[1]).join(' '),
    ([, , value]) => Number(value),
  )
}

type LoggedLine = NonNullable<ReturnType<typeof readLine>>

const readLines = (file: string): readonly LoggedLine[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => (text === '' ? [] : (readLine(text) ?? [])))

const countLines = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1

/** Reads the tally of a dataDir by subject: text → requests. */
async function readTallied(folder: string) {
  const now = Date.now()
  const { rows, marks } = await readTallyFile(join(folder, 'data', TALLY_FILE), now - DAY_MS, now + DAY_MS)
  const by = (subject: string) =>
    countBy(
      rows.filter((row) => row.subject === subject),
      // The labels behind these are the visitor's, which the tests of the keeper cover.
      ({ labels }) => labels.slice(0, subject === 'decided' ? 5 : subject === 'trial' ? 4 : undefined).join(' '),
      ({ requests }) => requests,
    )
  const decided = rows.filter(({ subject }) => subject === 'decided')
  const sum = (of: (row: (typeof rows)[number]) => number) => decided.reduce((all, row) => all + of(row), 0)
  return { by, marks, requests: sum(({ requests }) => requests), bytes: sum(({ bytes }) => bytes) }
}

async function service(t: Test, workers: number) {
  const upstream = await openOrigin(t)
  const { config, folder } = workspace(t, (folder) => [
    `upstream: ${upstream}`,
    'trustProxy: [loopback]',
    `log: { requests: all, file: ${folder}/log.jsonl }`,
  ])
  const log = join(folder, 'log.jsonl')
  const head = readFileSync(config, 'utf8')
  writeFileSync(config, head + POLICY)
  const proxy = await serve(t, config, ['--workers', String(workers)])
  const { url } = proxy
  await until(() => listChildProcesses(proxy).length === workers)
  const isWritten = async (requests: number) =>
    countLines(log) === requests && (await readTallied(folder)).requests === requests
  return { proxy, url, folder, log, isWritten, reload: (policy: string) => writeFileSync(config, head + policy) }
}

t.test('tally and metrics are exact against the log, over four workers, a kill and a reload', async (t) => {
  const { proxy, url, folder, log, isWritten, reload } = await service(t, 4)
  const readMetrics = async () => (await visit(`${proxy.admin}/metrics`)).text
  const countMetrics = async () => countSamples(await readMetrics(), 'sallyport_request_seconds_count')['']
  await send(url, 0, REQUESTS * 0.4)
  await until(() => isWritten(REQUESTS * 0.4))
  await until(async () => (await countMetrics()) === REQUESTS * 0.4)
  // Whatever is older than some seconds is written: one that is killed then has nothing to lose.
  const [killed] = listChildProcesses(proxy)
  process.kill(killed as number, 'SIGKILL')
  await until(() => listChildProcesses(proxy).length === 4 && !listChildProcesses(proxy).includes(killed as number))
  await send(url, REQUESTS * 0.4, REQUESTS * 0.6)
  reload(OTHER_POLICY)
  proxy.child.kill('SIGHUP')
  await send(url, REQUESTS * 0.6, REQUESTS)
  await until(async () => (await countMetrics()) === readLines(log).length)
  const metrics = await readMetrics()
  await proxy.stop()

  const tallied = await readTallied(folder)
  const lines = readLines(log)
  t.ok(lines.length >= REQUESTS - 32, `${lines.length} lines`)
  t.equal(tallied.requests, lines.length)
  const sent = lines.reduce((sum, { bytesSent = 0 }) => sum + bytesSent, 0)
  t.equal(tallied.bytes, sent)
  const readEffect = ({ action, trial }: LoggedLine) =>
    action === 'block' ? 'stopped' : trial === undefined ? '' : 'would'
  const counted: Readonly<Record<string, (line: LoggedLine) => string>> = {
    decided: ({ action, enforced, class: ofClass, networkClass, rule }) =>
      action === undefined ? 'refused' : [action, enforced, ofClass, networkClass, rule].join(' '),
    answer: ({ status, answeredBy }) => `${status} ${answeredBy}`,
    path: (line) => `${line.path.replace(/\/\d+$/, '/*').replace(/^\/(?:404|502)\//, '/*/')} ${readEffect(line)}`,
  }
  for (const [subject, readKey] of Object.entries(counted))
    t.same(tallied.by(subject), countBy(lines, readKey), subject)
  const decided = lines.filter(({ action }) => action !== undefined)
  const by = ['action', 'enforced', 'class', 'network_class']
  const decisions = countBy(decided, ({ action, enforced, class: ofClass, networkClass }) =>
    [action, enforced, ofClass, networkClass].join(' '),
  )
  t.same(countSamples(metrics, 'sallyport_decisions_total', ...by), decisions)
  const trials = decided.filter(({ trial }) => trial !== undefined)
  const rules = {
    ...countBy(decided, ({ rule, action }) => `${rule} ${action}`),
    ...countBy(trials, ({ trialRule, trial }) => `${trialRule} trial:${trial}`),
  }
  t.same(countSamples(metrics, 'sallyport_rule_matches_total', 'rule', 'action'), rules)
  for (const known of ['shut block', 'shut flag', 'try trial:challenge']) t.ok((rules[known] ?? 0) > 0, known)
  const tried = countBy(lines, ({ trial, trialRule, class: ofClass }) =>
    trial === undefined ? '' : `${trialRule} ${trial} ${ofClass} alone`,
  )
  t.ok(Object.keys(tried).length > 1, 'there are trials')
  t.same({ ...tallied.by('trial'), '': tried[''] }, tried)
  t.match(tallied.marks, [{ changed: ['start'] }, { changed: ['policy.rules'] }])
})

t.test('a worker that is killed while it serves loses ten seconds at most', async (t) => {
  const { proxy, url, folder, log } = await service(t, 2)
  const sent = send(url, 0, 8_000)
  await until(() => countLines(log) > 3_000)
  const at = Date.now()
  process.kill(listChildProcesses(proxy)[0] as number, 'SIGKILL')
  await sent
  await proxy.stop()
  const lines = readLines(log)
  const { requests } = await readTallied(folder)
  const young = lines.filter(({ time }) => Date.parse(time) > at - 10_000 && Date.parse(time) <= at).length
  t.ok(requests <= lines.length + 32, `${requests} of ${lines.length}`)
  t.ok(requests >= lines.length - young, `${lines.length - requests} of ${young} are lost`)
})
