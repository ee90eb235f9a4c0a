import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTallyFile, TALLY_FILE } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { listChildProcesses, start, until, workspace } from './command.ts'
import { countedLines, countLines, openOrigin, readLines, send } from './tally-traffic.ts'

/** `npm run fault` sends more requests. */
const REQUESTS = process.env['TEST_LENGTH'] === 'full' ? 200_000 : 10_000

const DAY_MS = 86_400_000

const POLICY = `policy:
  rules:
    - { id: try, match: { path: ['/trial/**'] }, action: challenge, monitor: true }
    - { id: shut, match: { path: ['/shut/**'] }, action: block }
`
const OTHER_POLICY = POLICY.replace('action: block', 'action: flag')

/** Reads the tally of a dataDir by subject: text → requests. */
async function readTallied(folder: string) {
  const now = Date.now()
  const { rows, marks } = await readTallyFile(join(folder, 'data', TALLY_FILE), now - DAY_MS, now + DAY_MS)
  const by = (subject: string) => {
    const sums = new Map<string, number>()
    for (const row of rows.filter((row) => row.subject === subject)) {
      // The labels behind these are the visitor's, which the mix test covers.
      const name = row.labels.slice(0, subject === 'decided' ? 5 : subject === 'trial' ? 4 : undefined).join(' ')
      sums.set(name, (sums.get(name) ?? 0) + row.requests)
    }
    return Object.fromEntries([...sums].sort(([one], [other]) => (one < other ? -1 : 1)))
  }
  const decided = rows.filter(({ subject }) => subject === 'decided')
  const sum = (of: (row: (typeof rows)[number]) => number) => decided.reduce((all, row) => all + of(row), 0)
  return { by, marks, requests: sum(({ requests }) => requests), bytes: sum(({ bytes }) => bytes) }
}

async function service(t: Test, workers: number) {
  const upstream = await openOrigin(t)
  const { config, folder } = workspace(t, [])
  const log = join(folder, 'log.jsonl')
  const rest = `upstream: ${upstream}\ntrustProxy: [loopback]\nlog: { requests: all, file: ${log} }\n`
  const head = `${readFileSync(config, 'utf8')}${rest}`
  writeFileSync(config, head + POLICY)
  const listen = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--workers', String(workers)]
  const proxy = start(t, ['proxy', '--config', config, ...listen])
  await proxy.says('Listening')
  await until(() => listChildProcesses(proxy).length === workers)
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const isWritten = async (requests: number) =>
    countLines(log) === requests && (await readTallied(folder)).requests === requests
  return { proxy, url, folder, log, isWritten, reload: (policy: string) => writeFileSync(config, head + policy) }
}

t.test('the tally is exact against the log, over four workers, a kill and a reload', async (t) => {
  const { proxy, url, folder, log, isWritten, reload } = await service(t, 4)
  await send(url, 0, REQUESTS * 0.4)
  await until(() => isWritten(REQUESTS * 0.4))
  // Whatever is older than some seconds is written: one that is killed then has nothing to lose.
  const [killed] = listChildProcesses(proxy)
  process.kill(killed as number, 'SIGKILL')
  await until(() => listChildProcesses(proxy).length === 4 && !listChildProcesses(proxy).includes(killed as number))
  await send(url, REQUESTS * 0.4, REQUESTS * 0.6)
  reload(OTHER_POLICY)
  process.kill(proxy.child.pid as number, 'SIGHUP')
  await send(url, REQUESTS * 0.6, REQUESTS)
  proxy.child.kill('SIGTERM')
  await proxy.ended

  const tallied = await readTallied(folder)
  const lines = readLines(log)
  t.ok(lines.length >= REQUESTS - 32, `${lines.length} lines`)
  t.equal(tallied.requests, lines.length)
  t.equal(
    tallied.bytes,
    lines.reduce((sum, { bytesSent = 0 }) => sum + bytesSent, 0),
  )
  t.same(
    tallied.by('decided'),
    countedLines(log, ({ action, enforced, class: ofClass, networkClass, rule }) =>
      action === undefined ? 'refused' : [action, enforced, ofClass, networkClass, rule].join(' '),
    ),
  )
  t.same(
    tallied.by('answer'),
    countedLines(log, ({ status, answeredBy }) => `${status} ${answeredBy}`),
  )
  const readEffect = ({ action, trial }: (typeof lines)[number]) =>
    action === 'block' ? 'stopped' : trial === undefined ? '' : 'would'
  t.same(
    tallied.by('path'),
    countedLines(
      log,
      (line) => `${line.path.replace(/\/\d+$/, '/*').replace(/^\/(?:404|502)\//, '/*/')} ${readEffect(line)}`,
    ),
  )
  const tried = countedLines(log, ({ trial, trialRule, class: ofClass }) =>
    trial === undefined ? '' : `${trialRule} ${trial} ${ofClass} alone`,
  )
  t.ok(Object.keys(tried).length > 1, 'there are trials')
  t.same({ ...tallied.by('trial'), '': tried[''] }, tried)
  t.match(
    tallied.marks.map(({ changed }) => changed),
    [['start'], ['policy.rules']],
  )
})

t.test('a worker that is killed while it serves loses ten seconds at most', async (t) => {
  const { proxy, url, folder, log } = await service(t, 2)
  const sent = send(url, 0, 8_000)
  await until(() => countLines(log) > 3_000)
  const at = Date.now()
  process.kill(listChildProcesses(proxy)[0] as number, 'SIGKILL')
  await sent
  proxy.child.kill('SIGTERM')
  await proxy.ended
  const lines = readLines(log)
  const { requests } = await readTallied(folder)
  const young = lines.filter(({ time }) => Date.parse(time) > at - 10_000 && Date.parse(time) <= at).length
  t.ok(requests <= lines.length + 32, `${requests} of ${lines.length}`)
  t.ok(requests >= lines.length - young, `${lines.length - requests} of ${young} are lost`)
})
