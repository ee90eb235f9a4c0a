import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { open, type Sallyport } from '../../src/open/index.ts'
import { openSqliteReverseChecks } from '../../src/stores/index.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { openNameServer } from '../net/name-server.ts'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { callApi, requestFrom } from '../open/requests.ts'

/** A busy machine reads an answer late, and here that is no silence. */
const PATIENT_MS = 30_000
const BAIDU = 'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)'

const claiming = (userAgent: string) => requestFrom('8.1.0.1', ['User-Agent', userAgent])
const verified = (sallyport: Sallyport, body: object) => callApi(sallyport, '/v1/crawlers/verify', undefined, body)

t.test('a forged crawler is pending first, then an impostor, and after a restart at once', async (t) => {
  const { address, asked } = await openNameServer(t, () => 'NXDOMAIN')
  const config = { ...madeConfig(t.testdir()), dns: { servers: [address], timeoutMs: PATIENT_MS } }
  const first = await open(config)
  t.match(first.decide(claiming(BAIDU)).inspection.crawler, { outcome: 'unverifiable', pending: true })
  while (first.inspect(claiming(BAIDU)).crawler?.pending === true)
    await new Promise((resolve) => setTimeout(resolve, 5))
  t.match(first.decide(claiming(BAIDU)), {
    action: 'block',
    inspection: { crawler: { outcome: 'spoofed', method: 'reverse DNS' }, agent: { class: 'impostor' } },
  })
  t.match(await verified(first, { ip: '8.1.0.1', user_agent: BAIDU }), { status: 200, json: { outcome: 'spoofed' } })
  t.equal(asked.length, 1, 'the API has what the request learned')
  await first.close()

  const again = await openService(t, config)
  t.match(again.inspect(claiming(BAIDU)).crawler, { outcome: 'spoofed', pending: false })
  t.equal(asked.length, 1, 'nothing is asked again')
})

/** A cache of verdicts whose first page is whole. */
async function writeTornCache(file: string): Promise<void> {
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
  writeFileSync(file, readFileSync(file).fill(0xff, 4_096))
}

t.test('a cache that cannot be used is reported, and nothing else suffers', async (t) => {
  const { address } = await openNameServer(t, () => 'NXDOMAIN')
  for (const write of [writeTornCache, (file: string) => writeFileSync(file, 'no database: '.repeat(200))]) {
    const config = { ...madeConfig(t.testdir()), dns: { servers: [address], timeoutMs: PATIENT_MS } }
    const { dataDir = '' } = config
    mkdirSync(dataDir, { recursive: true })
    await write(join(dataDir, 'crawler-verdicts.db'))
    const faults: unknown[] = []
    const sallyport = await open(config, { onFault: (error) => faults.push(error) })
    t.match(String(faults), /crawler-verdicts\.db cannot be used/)
    t.match(await verified(sallyport, { ip: '8.1.0.1', user_agent: BAIDU }), { json: { outcome: 'spoofed' } })
    await sallyport.close()
    t.equal(faults.length, 1)
  }
})
