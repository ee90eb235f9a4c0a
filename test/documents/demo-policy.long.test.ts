import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { formatAddress, parsePrefix } from '@sallyport/core'
import { open, readConfigFrom } from '@sallyport/engine'
import t from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { ROOT } from '../workspaces.ts'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(ROOT, '../shared/data')
const RANGES = join(SHARED, 'crawlers/operator-ranges.json.gz')

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** In networks of Google's and in no list that came with Sallyport, as a range that Google began to use since would be. */
const NEWER = ['66.249.80.1', '66.249.84.7', '34.1.128.9', '35.190.9.9', '2001:4860:4801:ffff::1']
/** Addresses of no system in the data, as a range that was bought since would be. */
const UNKNOWN = ['2c0f:ffff::1']

/** A forger at home, on the move, on a rented server, behind a VPN and at a Tor exit. */
const FORGERS = ['73.162.10.21', '172.56.21.89', '5.9.10.20', '45.83.220.10', '185.220.101.10']

// Google's published ranges are all clouds, so the demo's policy refuses an unproven Googlebot on other networks.
t.test('the demo refuses a forged Googlebot offline, and never a genuine one of a newer range', async (t) => {
  const { config } = readConfigFrom({
    file: join(ROOT, 'packages/sallyport/demo.yaml'),
    env: {},
    flags: { dataDir: DATA_DIR, net: { outbound: false } },
  })
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const decide = (address: string) =>
    sallyport.decide({
      peer: '127.0.0.1',
      method: 'GET',
      target: '/articles/gates',
      scheme: 'http',
      httpVersion: '1.1',
      fields: ['Host', 'a.example', 'User-Agent', GOOGLEBOT, 'Accept', '*/*', 'X-Forwarded-For', address],
    })

  for (const address of FORGERS) {
    const { action, inspection } = decide(address)
    t.equal(action, 'block', address)
    t.equal(
      inspection.crawler?.outcome,
      'unverifiable',
      `${address}: nothing was proven, and nobody is called an impostor`,
    )
    t.equal(inspection.agent.class, 'unverified_bot')
  }
  for (const address of [...NEWER, ...UNKNOWN]) {
    const { action, inspection } = decide(address)
    t.not(action, 'block', `${address}, ${inspection.network.verdict.classification}`)
    t.equal(inspection.crawler?.outcome, 'unverifiable', `${address} is in no shipped list`)
  }

  await t.test('all that Google has published', { skip: existsSync(RANGES) ? false : `no ${RANGES}` }, async (t) => {
    const published = JSON.parse(gunzipSync(readFileSync(RANGES)).toString('utf8')) as Record<string, readonly string[]>
    const refused = (published['google-common-crawlers'] ?? []).filter((text) => {
      const prefix = parsePrefix(text)
      return prefix === undefined || decide(formatAddress(prefix.address)).action === 'block'
    })
    t.same(refused, [])
  })
})
