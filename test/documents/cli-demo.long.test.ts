import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { missing } from '../clients/programs.ts'
import { DATA_DIR } from '../data-dir.ts'
import { exchange, parseResponse, requestBytes } from '../hosts/wire.ts'
import { BIN, started } from '../started.ts'

/** A visitor of the demo: what is said of it, and the command, which may go on in further lines. */
const COMMAND = /# (.+) → (\w+) \(\w+, .+\)\n {2}(curl (?:.*\\\n)*.*)/g

const OTHER_STATUSES: Readonly<Record<string, string>> = { redirect: '302', offer: '402', throttle: '429' }
const REFUSED = ['challenge', 'block']

type Row = Readonly<Record<'action' | 'price' | 'receipts', string | undefined>>

/** By one click, by the command beside it, and by what a stranger makes of that. */
async function becomeTheSignedAgent(t: Test, said: string): Promise<void> {
  const site = /Listening on (\S+),/.exec(said)?.[1] ?? ''
  const page = await (await fetch(`${site}/?as=chatgpt`)).text()
  t.match(page, 'Signed by ChatGPT agent, with a key of https://chatgpt.com.')
  t.match(page, /<strong>allowed<\/strong>, and answered 200/)
  t.match(page, 'This visitor signs with a key that the demo has made')
  const [, admin, id] = /href="(http:[^"]+)\/#\/request\?id=([\w-]+)"/.exec(page) ?? []
  const link = { 'x-sallyport-console': '1', authorization: `Link ${/#sign-in=(\S+)/.exec(said)?.[1]}` }
  const signed = await fetch(`${admin}/console/api/session`, { method: 'POST', headers: link })
  const cookie = signed.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const console = async (path: string) => (await fetch(`${admin}/console/api/${path}`, { headers: { cookie } })).json()
  const inspection = { agent: { class: 'ai_agent' } }
  const decision = { action: 'allow', reasons: [{ id: 'policy:verified' }], inspection }
  t.match(await console(`requests/${id}`), { observed: { path: '/articles/gates', decision } })

  const written = /<pre[^>]*>(.+?)<\/pre>/s.exec(page)?.[1] ?? ''
  const curl = written.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const fields = [...curl.matchAll(/-(A|H) '([^']*)'/g)].flatMap(([, option, text = '']) =>
    option === 'A' ? ['User-Agent', text] : [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 2)],
  )
  const { host, port } = new URL(site)
  const ask = async (path: string) => {
    const sent = requestBytes('GET', path, [...fields, 'Connection', 'close']).replace('site.example', host)
    return parseResponse(await exchange(Number(port), sent)).status
  }
  t.equal(await ask('/login'), 403, 'a signature of another request is a forgery')
  t.equal(await ask('/articles/gates'), 200)
  const same = { requests: [{ class: 'ai_agent', rule: 'verified' }] }
  t.match(await console('requests?limit=1'), same, 'the command does what the click did')
  await ask('/articles/gates')
  t.notMatch(await console('requests?limit=1'), { requests: [{ class: 'ai_agent' }] }, 'and once')
}

t.test('the demo, on the embedded data: what is printed is what happens', { skip: missing('curl') }, async (t) => {
  const argv = ['demo', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const demo = await started(t, [BIN, ...argv, '--data-dir', DATA_DIR], {}, 'with the token in')

  const seen = new Set<string>()
  for (const [, who = '', action = '', command = ''] of demo.err().matchAll(COMMAND)) {
    seen.add(`${who}: ${action}`)
    const said = command.replace('curl ', "curl -s -o /dev/null -w '%{http_code} ' ")
    const { stdout } = spawnSync('bash', ['-c', said], { encoding: 'utf8' })
    const status = OTHER_STATUSES[action] ?? (REFUSED.includes(action) ? '403' : '200')
    t.equal(stdout.trim().split(' ').at(-1), status, who)
  }
  t.ok(seen.size > 20)
  const actions = new Set([...seen].map((text) => text.replace(/.*: /, '')))
  t.same([...actions].sort(), ['allow', 'block', 'challenge', 'flag', 'offer', 'redirect', 'throttle'])

  const site = /Listening on (\S+),/.exec(demo.err())?.[1] ?? ''
  const page = async (id: string) => (await fetch(`${site}/?as=${id}`)).text()
  const shown = {
    search: /<strong>throttled<\/strong>, and answered 429/,
    mcp: /<strong>throttled<\/strong>, and answered 429[\s\S]+&quot;id&quot;:1|&amp;quot;id/,
    decoy: /<strong>blocked<\/strong>, and answered 403[\s\S]+The client is banned until/,
    offered: /<strong>priced<\/strong>, and answered 402/,
    paid: /<strong>allowed<\/strong>, and answered 200[\s\S]+The client paid USD 0\.01, by the receipt demo-/,
  }
  for (const [id, text] of Object.entries(shown)) t.match(await page(id), text, `the decision that was made: ${id}`)
  await becomeTheSignedAgent(t, demo.err())

  const [, key = '', url = ''] = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(demo.err()) ?? []
  const asked = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  t.match(await asked.json(), { isTor: true, networkClass: 'tor' })

  const data = /^Data from \d+ sources of 20\S+ to 20\S+, .*; sallyport data (update renews|status shows) them$/m
  t.match(demo.err(), data)
  t.equal(await demo.stop(), 0)
  const span = ['--from', '1h', '--data-dir', DATA_DIR]
  const report = [BIN, 'report', '--ai', '--evidence', 'OpenAI', ...span]
  const { stdout } = spawnSync(process.execPath, report, { encoding: 'utf8' })
  const records: readonly string[] = JSON.parse(stdout).records
  const rows = records.flatMap((text): readonly Row[] => Object.values(JSON.parse(text).crawl.rows))
  const offered = { path: '/library/keeps', price: 'USD 0.01', crawler: 'GPTBot' }
  const unpaid = rows.find(({ action, price }) => price && action === 'offer')
  t.hasStrict(unpaid, offered)
  const paid = rows.find(({ receipts }) => receipts)
  t.match(paid, { ...offered, action: 'allow', receipts: /^demo-/ })

  const status = await started(t, [BIN, 'data', 'status', '--data-dir', DATA_DIR], {}, 'routeviews.org')
  t.match(status.out(), /^asn-csv-v4 +20\d\d-\d\d-\d\d +[\d,]+ entries/m)
  for (const publisher of ['https://db-ip.com', 'https://www.nro.net', 'https://www.routeviews.org'])
    t.equal(status.out().split(publisher).length - 1, 1, `${publisher} is credited, and once`)
})
