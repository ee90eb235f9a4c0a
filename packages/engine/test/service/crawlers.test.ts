import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InspectionRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { open } from '../../src/open/open.ts'
import { openSqliteReverseChecks } from '../../src/stores/index.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { madeConfig } from '../open/made-sources.ts'

/** A busy machine reads an answer late, and here that is no silence. */
const PATIENT_MS = 30_000
const BAIDU = 'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)'
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** A name server that says of every name that it is not there, or says nothing. */
async function nameServer(t: Test, says: 'NXDOMAIN' | 'nothing') {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', (question, from) => {
    asked++
    if (says === 'nothing') return
    // The question itself, marked as an answer (QR) with the code 3 (RFC 1035 section 4.1.1).
    question.writeUInt16BE(0x8183, 2)
    socket.send(question, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], asked: () => asked }
}

function claiming(userAgent: string, peer = '8.1.0.1'): InspectionRequest {
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: ['User-Agent', userAgent] }
}

async function verified(sallyport: Awaited<ReturnType<typeof open>>, body: object) {
  const path = '/v1/crawlers/verify'
  const request = { ...claiming('curl/8.5.0'), method: 'POST', target: path, path }
  const answer = await sallyport.api({ ...request, query: new URLSearchParams(), json: async () => body })
  if (typeof answer?.body !== 'string') throw new Error('no answer')
  return { status: answer.status, json: JSON.parse(answer.body) }
}

t.test('a forged crawler is pending first, then an impostor, and after a restart at once', async (t) => {
  const { servers, asked } = await nameServer(t, 'NXDOMAIN')
  const config = { ...madeConfig(t.testdir()), dns: { servers, timeoutMs: PATIENT_MS } }
  const first = await open(config)
  t.match(first.decide(claiming(BAIDU)).inspection.crawler, { outcome: 'unverifiable', pending: true })
  while (first.inspect(claiming(BAIDU)).crawler?.pending === true)
    await new Promise((resolve) => setTimeout(resolve, 5))
  t.match(first.decide(claiming(BAIDU)), {
    action: 'block',
    inspection: { crawler: { outcome: 'spoofed', method: 'reverse DNS' }, agent: { class: 'impostor' } },
  })
  t.match(await verified(first, { ip: '8.1.0.1', user_agent: BAIDU }), { status: 200, json: { outcome: 'spoofed' } })
  t.equal(asked(), 1, 'the API has what the request learned')
  await first.close()

  const again = await open(config)
  t.teardown(() => again.close())
  t.match(again.inspect(claiming(BAIDU)).crawler, { outcome: 'spoofed', pending: false })
  t.equal(asked(), 1, 'nothing is asked again')
})

t.test('Googlebot verifies on a fresh clone without a network; a forged one is unverifiable', async (t) => {
  const { servers } = await nameServer(t, 'nothing')
  const sallyport = await open({ ...madeConfig(t.testdir()), dns: { servers, timeoutMs: 50 } })
  t.teardown(() => sallyport.close())
  t.match(sallyport.decide(claiming(GOOGLEBOT, '66.249.66.1')), {
    action: 'allow',
    inspection: { crawler: { outcome: 'verified', method: 'published ranges', pending: false } },
  })
  t.match(await verified(sallyport, { ip: '8.1.0.1', bot: 'googlebot' }), { json: { outcome: 'unverifiable' } })
})

t.test('a name server that says nothing is no accusation, and the API answers all the same', async (t) => {
  const { servers } = await nameServer(t, 'nothing')
  const sallyport = await open({ ...madeConfig(t.testdir()), dns: { servers } })
  t.teardown(() => sallyport.close())
  const { status, json } = await verified(sallyport, { ip: '8.1.0.1', user_agent: BAIDU })
  t.match([status, json.outcome], [200, 'unverifiable'])
  t.match(json.checks.at(-1), { name: 'reverse DNS', status: 'could-not-run', detail: /ETIMEOUT/ })
})

t.test('a cache that cannot be used is reported, and nothing else suffers', async (t) => {
  const { servers } = await nameServer(t, 'NXDOMAIN')
  const folder = t.testdir({ state: {} })
  const config = { ...madeConfig(folder), dns: { servers, timeoutMs: PATIENT_MS } }
  writeFileSync(join(folder, 'state', 'crawler-verdicts.db'), 'no database: '.repeat(200))
  const faults: unknown[] = []
  const sallyport = await open(config, { onFault: (error) => faults.push(error) })
  t.match(String(faults), /crawler-verdicts\.db cannot be used/)
  t.match(await verified(sallyport, { ip: '8.1.0.1', user_agent: BAIDU }), { json: { outcome: 'spoofed' } })
  await sallyport.close()
  t.equal(faults.length, 1)
})

t.test('nor does a cache that is damaged behind its first page keep a service from its start', async (t) => {
  const { servers } = await nameServer(t, 'NXDOMAIN')
  const config = { ...madeConfig(t.testdir()), dns: { servers } }
  const { dataDir = '' } = config
  const file = join(dataDir, 'crawler-verdicts.db')
  mkdirSync(dataDir, { recursive: true })
  const store = await openSqliteReverseChecks(file)
  const until = Date.now() + 3_600_000
  const checks = Array.from({ length: 500 }, (_, at) => {
    return { key: `8.1.0.${at} ${'x'.repeat(200)}`, status: 'refuted', detail: 'no such name', until } as const
  })
  store.save(checks, Date.now(), 1_000)
  store.close()
  const database = await connect(file, 0)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, 4_096))
  const faults: unknown[] = []
  const sallyport = await open(config, { onFault: (error) => faults.push(error) })
  t.match(String(faults), /crawler-verdicts\.db cannot be used/)
  t.match(await verified(sallyport, { ip: '8.1.0.1', user_agent: BAIDU }), { json: { outcome: 'spoofed' } })
  await sallyport.close()
})
