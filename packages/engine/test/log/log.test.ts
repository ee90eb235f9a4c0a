import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { InspectedRegion, ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createLog, type Log, type LogLine, type LogOptions, readLine } from '../../src/log/index.ts'
import { decisionFor, observed } from './observed.ts'

const OPTIONS: LogOptions = { requests: 'all', addresses: 'full', sample: 1, format: 'plain' }

/** The lines written about these requests. */
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

t.test('the region is in the line where a rule asked for it, and else why it is not known', async (t) => {
  const decision = decisionFor('block', 'texas')
  const logRegion = async (region: InspectedRegion) => {
    const inspection = { ...decision.inspection, region }
    const [line = ''] = await written(t, {}, [observed({ decision: { ...decision, inspection } })])
    return readLine(line) ?? {}
  }
  const known = await logRegion({ code: 'US-TX', source: 'made', basis: 'city', confidence: 0.75 })
  t.match(known, { region: 'US-TX', regionUnknown: undefined })
  t.match(await logRegion({ doubt: 'carrier' }), { region: undefined, regionUnknown: 'carrier' })
})

t.test('the user of the application is in the line, bounded and escaped', async (t) => {
  const decision = decisionFor('block', 'no-tor')
  const inspection = { ...decision.inspection, user: `17\u001b[31m${'x'.repeat(200)}`, plan: 'free' }
  const [line = ''] = await written(t, {}, [observed({ decision: { ...decision, inspection } })])
  const { user, plan } = readLine(line) ?? {}
  t.match(user, /^17\\u\{1b\}\[31mx+…$/)
  t.equal(plan, 'free')
})

t.test('decided: those flagged, blocked or on trial; off: none', async (t) => {
  const requests = [
    observed({ id: 'allowed', decision: decisionFor('allow', 'default') }),
    observed({ id: 'flagged', decision: decisionFor('flag', 'look') }),
    observed({ id: 'blocked', decision: decisionFor('block', 'no') }),
    observed({
      id: 'tried',
      decision: { ...decisionFor('allow', 'default'), trial: { rule: 'try', action: 'block' } },
    }),
    observed({ id: 'solved', decision: decisionFor('allow', 'default'), challenge: { outcome: 'solved', level: 1 } }),
    observed({ id: 'head', answeredBy: 'refusal', refusedFor: 'head', status: 400 }),
  ]
  const ids = async (options: Partial<LogOptions>) =>
    (await written(t, options, requests)).map((line) => readLine(line)?.requestId)
  t.same(await ids({ requests: 'decided' }), ['flagged', 'blocked', 'tried', 'solved'])
  t.same(await ids({ requests: 'off' }), [])
  t.same(await ids({ requests: 'all' }), ['allowed', 'flagged', 'blocked', 'tried', 'solved', 'head'])
  t.same(
    await ids({ requests: 'all', sample: 0 }),
    ['flagged', 'blocked', 'tried', 'solved'],
    'what is decided is never sampled',
  )
})

t.test('addresses: whole, truncated, hashed for a day, or not at all', async (t) => {
  const day = Date.UTC(2026, 10, 1, 12)
  const at = (client: string, at = day) => observed({ client, at })
  const clients = async (addresses: LogOptions['addresses'], requests: readonly ObservedRequest[]) =>
    (await written(t, { addresses }, requests)).map((line) => readLine(line)?.client)
  t.same(await clients('truncated', [at('192.0.2.77'), at('2001:db8:1:2::3'), at('')]), [
    '192.0.2.0/24',
    '2001:db8:1::/48',
    undefined,
  ])
  t.same(await clients('none', [at('192.0.2.77')]), [undefined])
  const next = day + 86_400_000
  const [one, again, other, tomorrow] = await clients('hashed', [
    at('192.0.2.77'),
    at('192.0.2.77'),
    at('192.0.2.78'),
    at('192.0.2.77', next),
  ])
  t.match(one, /^[\w-]{22}$/)
  t.equal(again, one)
  t.equal(new Set([one, other, tomorrow]).size, 3)
})

t.test("a client's text is bounded, and steers nothing that shows it", async (t) => {
  const lines = await written(t, {}, [
    observed({
      path: `/a\u001b[31m\u202e\u2028\u0085\n${'x'.repeat(5_000)}`,
      host: 'h'.repeat(300),
      method: 'M'.repeat(99),
    }),
  ])
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
  const requests = [observed({ decision: { ...decision, inspection }, challenge })]
  const [plain = ''] = await written(t, {}, requests)
  const [ecs = ''] = await written(t, { format: 'ecs' }, requests)
  const [otel = ''] = await written(t, { format: 'otel' }, requests)
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

t.test('a file that was moved away is opened again', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'a.log')
  const log = createLog({ ...OPTIONS, file })
  log.observe(observed({ id: 'before' }))
  while (!existsSync(file) || statSync(file).size === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  renameSync(file, join(folder, 'b.log'))
  log.reopen()
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5))
  log.observe(observed({ id: 'after' }))
  log.audit({ what: 'reload', who: 'SIGHUP', details: { changed: ['policy'] } })
  await log.close()
  log.observe(observed({ id: 'late' }))
  t.equal(log.lost, 1)
  t.match(readFileSync(join(folder, 'b.log'), 'utf8'), /"before"/)
  t.match(
    readFileSync(file, 'utf8'),
    /"after".*\n.*"audit":"reload","who":"SIGHUP","details":\{"changed":\["policy"\]\}/,
  )
})

t.test('a file that cannot be written is refused at once; a log that fails later throws at nobody', async (t) => {
  const folder = t.testdir({ file: '' })
  symlinkSync(join(folder, 'nowhere'), join(folder, 'gone'))
  for (const [file, message] of [
    ['file/x.log', `${join(folder, 'file')} is not a folder`],
    ['file/deep/x.log', `${join(folder, 'file')} is not a folder`],
    ['.', `${folder} is a folder`],
    ['new/', `${folder}/new/ is a folder`],
    ['gone/x.log', `${join(folder, 'gone/x.log')} leads through a broken link`],
  ] as const) {
    const named = file === '.' ? folder : `${folder}/${file}`
    const refused = { code: 'invalid_config', message: `log.file: ${message}` }
    t.throws(() => createLog({ ...OPTIONS, file: named }), refused, file)
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
  const log = await opened(() => createLog({ ...OPTIONS, file: pipe }))
  log.observe(observed({ id: 'first' }))
  await log.close()
  t.match(await read, /"requestId":"first"/)
})

/** A log of a pipe, once its reader has it open. */
async function opened(open: () => Log): Promise<Log> {
  for (;;) {
    try {
      return open()
    } catch {
      await delay(10)
    }
  }
}

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
