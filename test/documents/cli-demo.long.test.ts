import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { missing } from '../clients/programs.ts'
import { DATA_DIR } from '../data-dir.ts'
import { exchange, parseResponse, requestBytes } from '../hosts/wire.ts'
import { started } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/** A visitor of the demo: what is said of it, and the command, which may go on in further lines. */
const COMMAND = /# (.+) → (\w+) \(\w+, .+\)\n {2}(curl (?:.*\\\n)*.*)/g

const STATUSES: Readonly<Record<string, string>> = {
  allow: '200',
  flag: '200',
  redirect: '302',
  challenge: '403',
  offer: '402',
  throttle: '429',
  block: '403',
}

interface Row {
  readonly action: string
  readonly price?: string
  readonly receipts?: string
}

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
  const reasons = [{ id: 'policy:verified' }]
  t.match(await console(`requests/${id}`), {
    observed: {
      path: '/articles/gates',
      decision: { action: 'allow', reasons, inspection: { agent: { class: 'ai_agent' } } },
    },
  })

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
  t.match(
    await console('requests?limit=1'),
    { requests: [{ class: 'ai_agent', rule: 'verified' }] },
    'the command does what the click did',
  )
  await ask('/articles/gates')
  t.notMatch(await console('requests?limit=1'), { requests: [{ class: 'ai_agent' }] }, 'and once')
}

t.test('the demo, on the embedded data: what is printed is what happens', { skip: missing('curl') }, async (t) => {
  const bin = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
  const argv = ['demo', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const demo = await started(t, [bin, ...argv, '--data-dir', DATA_DIR], {}, 'with the token in')

  const seen: string[] = []
  for (const [, who = '', action = '', command = ''] of demo.err().matchAll(COMMAND)) {
    seen.push(`${who}: ${action}`)
    for (const line of command.split('\n')) t.ok(line.length <= 80, `${line} fits into a terminal`)
    const said = command.replace('curl ', "curl -s -o /dev/null -w '%{http_code} ' ")
    const { stdout } = spawnSync('bash', ['-c', said], { encoding: 'utf8' })
    t.equal(stdout.trim().split(' ').at(-1), STATUSES[action], who)
  }
  t.strictSame(seen, [
    'a browser on a home line: allow',
    'a browser behind a VPN: flag',
    'a browser behind a VPN, to log in: challenge',
    'a browser at a Tor exit: flag',
    'a browser at a Tor exit, to pay: block',
    'Googlebot: allow',
    'a forged Googlebot on a home line: block',
    'GPTBot, whose address proves it: redirect',
    'GPTBot, where pages have a price: offer',
    'GPTBot, which pays that price: allow',
    'a crawler where robots.txt says no: block',
    'GPTBot, where only robots.txt says no: allow',
    'a name that no request carries: block',
    'an MCP client that calls a tool four times: throttle',
    'an MCP client that calls a blocked tool: block',
    'a program in a hosting network: flag',
    'a Python client that says Chrome: challenge',
    'a copied user agent on a server: flag',
    'a program with the headers of Firefox: block',
    'a program that searches five times: throttle',
    'a program that follows a hidden link: block',
    'an old browser on a rented server: block',
  ])

  const site = /Listening on (\S+),/.exec(demo.err())?.[1] ?? ''
  const page = async (id: string) => (await fetch(`${site}/?as=${id}`)).text()
  t.match(
    await page('search'),
    /<strong>throttled<\/strong>, and answered 429/,
    'the decision is the one that was made',
  )
  t.match(await page('mcp'), /<strong>throttled<\/strong>, and answered 429[\s\S]+&quot;id&quot;:1|&amp;quot;id/)
  t.match(await page('decoy'), /<strong>blocked<\/strong>, and answered 403[\s\S]+The client is banned until/)

  t.match(await page('offered'), /<strong>priced<\/strong>, and answered 402/)
  t.match(
    await page('paid'),
    /<strong>allowed<\/strong>, and answered 200[\s\S]+The client paid USD 0\.01, by the receipt demo-/,
  )

  await becomeTheSignedAgent(t, demo.err())

  const [, key = '', url = ''] = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(demo.err()) ?? []
  const asked = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  t.match(await asked.json(), { isTor: true, networkClass: 'tor' })

  t.match(
    demo.err(),
    /^Data from \d+ sources of 20\S+ to 20\S+, .*; sallyport data (update renews|status shows) them$/m,
  )
  t.equal(await demo.stop(), 0)
  const span = ['--from', '1h', '--data-dir', DATA_DIR]
  const bundle = spawnSync(process.execPath, [bin, 'report', '--ai', '--evidence', 'OpenAI', ...span], {
    encoding: 'utf8',
  })
  const rows = JSON.parse(bundle.stdout).records.flatMap((text: string) => Object.values(JSON.parse(text).crawl.rows))
  const offered = { path: '/library/keeps', price: 'USD 0.01', crawler: 'GPTBot' }
  t.hasStrict(
    rows.find(({ action, price }: Row) => price && action === 'offer'),
    offered,
  )
  t.match(
    rows.find(({ receipts }: Row) => receipts),
    { ...offered, action: 'allow', receipts: /^demo-/ },
  )

  const status = await started(t, [bin, 'data', 'status', '--data-dir', DATA_DIR], {}, 'routeviews.org')
  t.match(status.out(), /^asn-csv-v4 +20\d\d-\d\d-\d\d +[\d,]+ entries/m)
  for (const publisher of ['https://db-ip.com', 'https://www.nro.net', 'https://www.routeviews.org'])
    t.equal(status.out().split(publisher).length - 1, 1, `${publisher} is credited, and once`)
})

t.test('examples/proxy.ts', async (t) => {
  const env = { LISTEN: '127.0.0.1:0', DATA_DIR }
  const proxy = await started(t, [join(ROOT, 'examples/dist/proxy.js')], env, 'Listening on ')
  const url = /Listening on (\S+),/.exec(proxy.err())?.[1] ?? ''
  t.equal((await fetch(url, { headers: { 'x-forwarded-for': '185.220.101.10' } })).status, 403)
  t.equal((await fetch(url, { headers: { 'x-forwarded-for': '73.162.10.20' } })).status, 200)
  t.equal(await proxy.stop(), 0)
  const lines = proxy.out().trimEnd().split('\n')
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { action: 'block', rule: 'no-tor', client: '185.220.101.10', networkClass: 'tor', method: 'GET', path: '/' },
      { action: 'allow', client: '73.162.10.20', networkClass: 'residential_clean', status: 200 },
    ],
  )
})
