import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Inspection, ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createLog, type Log, type LogLine, type LogOptions, readLine } from '../../src/log/index.ts'
import { decisionFor, observed } from './observed.ts'

const OPTIONS: LogOptions = { requests: 'all', addresses: 'full', sample: 1, format: 'plain' }

async function written(t: Test, options: Partial<LogOptions>, requests: readonly ObservedRequest[]) {
  const file = join(t.testdir(), 'logs/decisions.log')
  const log = createLog({ ...OPTIONS, ...options, file })
  for (const request of requests) log.observe(request)
  await log.close()
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}

t.test('one line for each request, with what was decided and why', async (t) => {
  const [line = ''] = await written(t, {}, [observed({ decision: decisionFor('block', 'no-tor') })])
  t.same(JSON.parse(line), {
    level: 'info',
    time: '2026-11-01T00:00:00.000Z',
    requestId: 'abc',
    action: 'block',
    enforced: true,
    rule: 'no-tor',
    class: 'human',
    botProbability: 0,
    networkClass: 'tor',
    client: '192.0.2.77',
    method: 'GET',
    host: 'site.example',
    path: '/shop',
    status: 403,
    bytesReceived: 0,
    bytesSent: 321,
    milliseconds: 1.234,
    inspectionMilliseconds: 0.057,
    asn: 64502,
    asName: 'Made Networks',
    country: 'NL',
    reasons: ['policy:no-tor', 'network:tor'],
    source: 'tor',
    sourceDate: '2026-10-31',
    answeredBy: 'refusal',
  } satisfies LogLine & { level: string })
})

t.test('a region, or why it is unknown, and the user of the application are in the line', async (t) => {
  const decision = decisionFor('block', 'texas')
  const writeLine = async (more: Partial<Inspection>) => {
    const request = observed({ decision: { ...decision, inspection: { ...decision.inspection, ...more } } })
    return readLine((await written(t, {}, [request]))[0] ?? '')
  }
  const known = await writeLine({ region: { code: 'US-TX', source: 'made', basis: 'city', confidence: 0.75 } })
  t.match(known, { region: 'US-TX', regionUnknown: undefined })
  t.match(await writeLine({ region: { doubt: 'carrier' } }), { region: undefined, regionUnknown: 'carrier' })
  const line = await writeLine({ user: `17\u001b[31m${'x'.repeat(200)}`, plan: 'free' })
  t.match(line, { user: /^17\\u\{1b\}\[31mx+…$/, plan: 'free' }, 'bounded and escaped')
})

t.test('decided: those flagged, blocked or on trial; off: none', async (t) => {
  const decision = decisionFor('allow', 'default')
  const requests = [
    observed({ id: 'allowed', decision }),
    observed({ id: 'flagged', decision: decisionFor('flag', 'look') }),
    observed({ id: 'blocked', decision: decisionFor('block', 'no') }),
    observed({ id: 'tried', decision: { ...decision, trial: { rule: 'try', action: 'block' } } }),
    observed({ id: 'solved', decision, challenge: { outcome: 'solved', level: 1 } }),
    observed({ id: 'head', answeredBy: 'refusal', refusedFor: 'head', status: 400 }),
  ]
  const ids = async (options: Partial<LogOptions>) =>
    (await written(t, options, requests)).map((line) => readLine(line)?.requestId)
  t.same(await ids({ requests: 'decided' }), ['flagged', 'blocked', 'tried', 'solved'])
  t.same(await ids({ requests: 'off' }), [])
  t.same(await ids({ requests: 'all' }), ['allowed', 'flagged', 'blocked', 'tried', 'solved', 'head'])
  const sampled = await ids({ requests: 'all', sample: 0 })
  t.same(sampled, ['flagged', 'blocked', 'tried', 'solved'], 'what is decided is never sampled')
})

t.test('addresses: whole, truncated, hashed for a day, or not at all', async (t) => {
  const day = Date.UTC(2026, 10, 1, 12)
  const at = (client: string, at = day) => observed({ client, at })
  const clients = async (addresses: LogOptions['addresses'], requests: readonly ObservedRequest[]) =>
    (await written(t, { addresses }, requests)).map((line) => readLine(line)?.client)
  const truncated = await clients('truncated', [at('192.0.2.77'), at('2001:db8:1:2::3'), at('')])
  t.same(truncated, ['192.0.2.0/24', '2001:db8:1::/48', undefined])
  t.same(await clients('none', [at('192.0.2.77')]), [undefined])
  const same = at('192.0.2.77')
  const hashed = await clients('hashed', [same, same, at('192.0.2.78'), at('192.0.2.77', day + 86_400_000)])
  const [one, again, other, tomorrow] = hashed
  t.match(one, /^[\w-]{22}$/)
  t.equal(again, one)
  t.equal(new Set([one, other, tomorrow]).size, 3)
})

t.test("a client's text is bounded, and steers nothing that shows it", async (t) => {
  const hostile = `/a\u001b[31m\u202e\u2028\u0085\n${'x'.repeat(5_000)}`
  const request = observed({ path: hostile, host: 'h'.repeat(300), method: 'M'.repeat(99) })
  const lines = await written(t, {}, [request])
  t.equal(lines.length, 1)
  const { path = '', host, method } = readLine(lines[0] ?? '') ?? {}
  t.ok(path.startsWith('/a\\u{1b}[31m\\u{202e}\\u{2028}\\u{85}\\u{a}xxx'))
  t.ok(path.length < 1_100 && path.endsWith('…'))
  t.same([host?.length, method?.length], [256, 33])
})

t.test('the formats have other names and units, and are read back as the same line', async (t) => {
  const decision = decisionFor('block', 'no-tor')
  const inspection = { ...decision.inspection, pass: { id: 'AAAAAAAAAAA', level: 2, age: 300 } as const }
  const challenge = { outcome: 'solved', level: 2, seconds: 0.412 } as const
  const request = observed({ decision: { ...decision, inspection }, challenge })
  const [plain = ''] = await written(t, {}, [request])
  const [ecs = ''] = await written(t, { format: 'ecs' }, [request])
  const [otel = ''] = await written(t, { format: 'otel' }, [request])
  t.match(JSON.parse(ecs), {
    '@timestamp': '2026-11-01T00:00:00.000Z',
    'http.response.status_code': 403,
    'event.duration': 1_234_000,
    'client.as.number': 64502,
    'rule.id': 'no-tor',
    'sallyport.challenge.outcome': 'solved',
    'sallyport.challenge.duration': 412_000_000,
    'sallyport.pass.age': 300,
  })
  t.match(JSON.parse(otel), {
    timestamp: '2026-11-01T00:00:00.000Z',
    'http.server.request.duration': 0.001234,
    'server.address': 'site.example',
    'sallyport.challenge.duration': 0.412,
    'sallyport.challenge.level': 2,
    'sallyport.pass.level': 2,
  })
  const { level: _, ...line } = JSON.parse(plain)
  t.same(readLine(ecs), line)
  t.same(readLine(otel), line)
  for (const none of ['', 'text', '[]', 'null', '{"time":1}', '{"audit":"reload"}']) t.equal(readLine(none), undefined)
})

t.test('a file that cannot be written is refused at once; a log that fails later throws at nobody', async (t) => {
  const folder = t.testdir({ file: '' })
  symlinkSync(join(folder, 'nowhere'), join(folder, 'gone'))
  for (const [file, message] of [
    ['/file/deep/x.log', '/file is not a folder'],
    ['', ' is a folder'],
    ['/new/', '/new/ is a folder'],
    ['/gone/x.log', '/gone/x.log leads through a broken link'],
  ] as const) {
    const refused = { code: 'invalid_config', message: `log.file: ${folder}${message}` }
    t.throws(() => createLog({ ...OPTIONS, file: folder + file }), refused, file)
  }
  const faults: Error[] = []
  const log = createLog({ ...OPTIONS, file: '/dev/full', onFault: (error) => faults.push(error) })
  for (let n = 0; n < 100; n++) log.observe(observed({}))
  await log.close()
  t.ok(log.lost > 0)
  t.equal(faults.length, 1)
  t.match(faults[0]?.message, /ENOSPC/)
})

t.test('a pipe is a log while it is read, and its reader has its end with the log', async (t) => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  t.throws(() => createLog({ ...OPTIONS, file: pipe }), { message: `log.file: ${pipe} is a pipe without a reader` })
  const reader = spawn('cat', [pipe])
  t.teardown(() => reader.kill())
  const read = text(reader.stdout)
  let log: Log | undefined
  while (log === undefined) {
    await delay(10)
    try {
      log = createLog({ ...OPTIONS, file: pipe })
    } catch {
      // The reader of the pipe has not opened it yet.
    }
  }
  log.observe(observed({ id: 'first' }))
  await log.close()
  t.match(await read, /"requestId":"first"/)
})

t.test('lines held at the end of a process are written', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'end.mjs')
  const index = pathToFileURL(join(import.meta.dirname, '../../src/log/index.js')).href
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    file,
    `import { createLog } from ${JSON.stringify(index)}
     const log = createLog(${JSON.stringify(OPTIONS)})
     for (let n = 0; n < 50; n++) log.observe(${JSON.stringify(observed({}))})
     setImmediate(() => process.exit(0))`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  t.equal(stderr, '')
  t.equal(stdout.split('\n').filter((line) => readLine(line) !== undefined).length, 50)
})
