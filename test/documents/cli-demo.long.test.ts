import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { exchange, parseResponse, requestBytes } from '../hosts/wire.ts'
import { started } from '../started.ts'
import { ROOT } from '../workspaces.ts'

/** The curl commands of the demo: what each says it will be decided, and the header it sends. */
const COMMAND = /# (.+) → (\w+) \((\w+), .+\)\n {2}curl (?:-A '(.+)' )?-H '(\S+): (\S+)' (\S+)/g

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
  t.match(((await console(`requests/${id}`)) as { readonly brief: object }).brief, {
    class: 'ai_agent',
    rule: 'verified',
    outcome: 'allow',
    path: '/articles/gates',
  })

  const curl = (/<pre[^>]*>(.+?)<\/pre>/.exec(page)?.[1] ?? '').replace(/&#(\d+);/g, (_, code) =>
    String.fromCharCode(code),
  )
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

t.test('the demo, on the embedded data: what is printed is what happens', async (t) => {
  const bin = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
  const argv = ['proxy', '--config', 'examples/demo.yaml', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
  const demo = await started(t, [bin, ...argv, '--data-dir', DATA_DIR], {}, 'by the token in')

  const seen: string[] = []
  for (const [
    ,
    who = '',
    action = '',
    networkClass = '',
    agent = 'curl/8.5.0',
    header = '',
    address = '',
    url = '',
  ] of demo.err().matchAll(COMMAND)) {
    seen.push(`${who}: ${action}`)
    // As curl writes it: the headers that fetch adds are no browser's.
    const fields = ['User-Agent', agent, 'Accept', '*/*', header, address, 'Connection', 'close']
    const { status, body } = parseResponse(await exchange(Number(new URL(url).port), requestBytes('GET', '/', fields)))
    t.equal(status, action === 'block' ? 403 : 200, who)
    // A client that calls itself a browser and accepts anything is shown a page.
    if (action === 'block') t.match(body, /"requestId":"[\w-]{36}"|<code dir="ltr">[\w-]{36}<\/code>/)
    else t.match(body, new RegExp(`sallyport-action</td><td>${action}<[\\s\\S]*network-class</td><td>${networkClass}<`))
  }
  t.strictSame(seen, [
    'a browser on a home line: allow',
    'a program in a hosting network: flag',
    'a browser behind a commercial VPN: flag',
    'a browser at a Tor exit: block',
    'Googlebot: allow',
    'a forged Googlebot on a home line: allow',
    'a name that Google sends with no request: block',
    'GPTBot: allow',
  ])

  await becomeTheSignedAgent(t, demo.err())

  const [, key = '', url = ''] = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(demo.err()) ?? []
  const asked = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  t.match(await asked.json(), { isTor: true, networkClass: 'tor' })

  t.match(
    demo.err(),
    /^Data from \d+ sources of 20\S+ to 20\S+, .*; sallyport data (update renews|status shows) them$/m,
  )
  t.equal(await demo.stop(), 0)

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
