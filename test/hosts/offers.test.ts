import { json } from 'node:stream/consumers'
import type { ObservedRequest, Offer, PaidRequest, PaymentProvider, Receipt } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { everyHost, type RuleInput, startHost } from './every-host.ts'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { startOrigin } from './proxy.ts'
import { askAs, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Rules with the action offer: 402 with the price in every host, and a port that takes payments. */

const EXTRA = { name: 'USDC', version: '2' }
const TERMS = { network: 'eip155:8453', asset: '0xA', amount: '10000', payTo: '0xB', extra: EXTRA }
const LICENCE = 'https://shop.example/licence.xml'
const OFFER = { price: 'USD 0.01', licence: LICENCE, x402: [TERMS] }
const RULES: RuleInput[] = [
  { id: 'open', match: { path: ['/open'] }, action: 'allow' },
  { id: 'paid', match: { path: ['/articles/**', '/mcp'] }, action: 'offer', offer: OFFER },
  {
    id: 'beyond',
    match: { path: ['/free-once'] },
    limit: { key: 'client', max: 1, window: '1h', kind: 'fixed' },
    action: 'offer',
    offer: { price: 'EUR 2' },
  },
]

/** A port that takes `right`, spends it never, refuses `wrong`, throws at `broken`, lies at `odd` and leaves `slow` unanswered. */
function createPort() {
  const asked: Parameters<PaymentProvider['accept']>[] = []
  const port: PaymentProvider = {
    async accept(...question) {
      asked.push(question)
      const [{ text }] = question
      if (text === 'slow') return new Promise(() => {})
      if (text === 'broken') throw new Error('no purse')
      if (text === 'odd') return { accepted: true, receipt: 'two words' }
      if (text !== 'right') return { accepted: false, reason: 'it is forged' }
      return { accepted: true, receipt: 'pay_7', settlement: { success: true, transaction: '0x1' } }
    },
  }
  return { port, asked }
}

const decode = (text: string | undefined) => JSON.parse(Buffer.from(text ?? '', 'base64').toString()) as unknown

async function opened(t: Test, more: Partial<ConfigInput> = {}, payments?: PaymentProvider) {
  const seen: ObservedRequest[] = []
  const faults: string[] = []
  const sallyport = await openWithoutData(
    t,
    { policy: { preset: 'observe', rules: RULES }, payment: { timeoutMs: 200 }, ...more },
    { observe: (observed) => seen.push(observed), onFault: (error) => faults.push(String(error)), payments },
  )
  const count = async (outcome: string) => {
    sallyport.drain()
    const text = await sallyport.metrics().metrics()
    return Number(new RegExp(`sallyport_payments_total{rule="paid",outcome="${outcome}"} (\\d+)`).exec(text)?.[1] ?? 0)
  }
  return { sallyport, seen, faults, count }
}

let last = 0
/** An address that has paid nothing before. */
const newClient = () => `8.2.${++last >> 8}.${last & 255}`

const get = (at: RunningHost, target: string, fields: readonly string[] = [], from = newClient()) =>
  askAs(at, from, target, fields)
const first = HOSTS[0] as Host

const pay = (text: string) => ['PAYMENT-SIGNATURE', text]

function checkOffer(t: Test, { status, headers, body }: WireResponse, target: string): void {
  t.equal(status, 402)
  t.match(headers, { 'crawler-price': 'USD 0.01', 'cache-control': 'no-store', link: `<${LICENCE}>; rel="license"` })
  const accepts = [{ scheme: 'exact', ...TERMS, maxTimeoutSeconds: 60 }]
  const required = { x402Version: 2, resource: { url: `http://site.example${target}` }, accepts }
  t.match(decode(headers['payment-required']), { error: /charges USD 0\.01/, ...required })
  t.match(JSON.parse(body), { error: 'payment_required', price: 'USD 0.01', licence: LICENCE, ...required })
}

for (const host of HOSTS) {
  t.test(`${host.name} answers 402 with the offer, and lets a paid request pass`, async (t) => {
    const { port, asked } = createPort()
    const { sallyport, seen, faults, count } = await opened(t, {}, port)
    const site = await startHost(t, host, sallyport)
    t.equal((await get(site, '/open')).status, 200)
    checkOffer(t, await get(site, '/articles/1'), '/articles/1')
    const page = await get(site, '/articles/1', ['Accept', 'text/html', 'Accept-Language', 'de'])
    t.match([page.status, page.body], [402, /Zahlung erforderlich[\s\S]*\(USD 0\.01\)/])
    t.match((await get(site, '/articles/1', ['Accept', 'text/plain'])).body, /Payment required\. .* \(USD 0\.01\)/)
    t.same(asked, [], 'nothing is asked without a receipt')

    const payer = newClient()
    const paid = await get(site, '/articles/1?a=b', pay('right'), payer)
    t.equal(paid.status, 200)
    t.match(paid.headers, { 'crawler-charged': 'USD 0.01', 'cache-control': /private/ })
    t.same(decode(paid.headers['payment-response']), { success: true, transaction: '0x1' })
    const about = { client: payer, method: 'GET', url: 'http://site.example/articles/1?a=b', rule: 'paid', id: String }
    t.match(asked, [[{ form: 'x402', text: 'right' }, OFFER, about]])
    sallyport.drain()
    t.match(seen.at(-1), {
      status: 200,
      decision: { action: 'allow', enforced: true, reasons: [{ id: 'policy:paid' }] },
      payment: { outcome: 'paid', rule: 'paid', receipt: 'pay_7', offer: OFFER },
    })

    const forged = await get(site, '/articles/1', pay('wrong'))
    t.match([forged.status, JSON.parse(forged.body).message], [402, /was rejected: it is forged\./])
    for (const text of ['broken', 'odd', 'slow']) {
      const failed = await get(site, '/articles/1', pay(text))
      t.match([failed.status, failed.headers['retry-after']], [503, '5'], `nobody pays twice where the port is ${text}`)
    }
    t.match(faults, [/payment: no purse/, /has an unknown form/, /no response within 200 ms/])
    for (const [outcome, times] of Object.entries({ offered: 3, paid: 1, refused: 1, unanswered: 3 })) {
      t.equal(await count(outcome), times, outcome)
    }

    const thief = newClient()
    const before = asked.length
    for (let time = 0; time < 9; time++) await get(site, '/articles/1', pay('forged'), thief)
    t.equal(asked.length - before, 5, 'the port is not shown more of one client')
    const bounded = await get(site, '/articles/1', pay('right'), thief)
    t.match([bounded.status, bounded.headers['retry-after']], [402, '60'])
    t.equal(await count('bounded'), 5)
    t.equal((await get(site, '/articles/1', pay('right'))).status, 200, 'others are')

    const third = newClient()
    t.equal((await get(site, '/free-once', [], third)).status, 200)
    const beyond = await get(site, '/free-once', [], third)
    const { 'crawler-price': price, 'payment-required': required } = beyond.headers
    t.match([beyond.status, price, required], [402, 'EUR 2', undefined])
  })
}

const PAID_CALL: RuleInput = { id: 'paid', match: { mcp: { name: ['search'] } }, action: 'offer', offer: OFFER }
const CALLS = { policy: { preset: 'observe', rules: [PAID_CALL] } } satisfies Partial<ConfigInput>

everyHost('calls of MCP get the offer as JSON-RPC', CALLS, async (t, at) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'search' } })
  const sent = { method: 'POST', body }
  const answer = await askAs(at, newClient(), '/mcp', ['Content-Type', 'application/json'], sent)
  const data = { error: 'payment_required', price: 'USD 0.01', x402Version: 2 }
  t.match([answer.status, JSON.parse(answer.body)], [402, { id: 4, error: { code: 402, data } }])
})

t.test('without a port every offer stays one, and monitor mode and dry runs offer nothing', async (t) => {
  const { sallyport, count } = await opened(t)
  for (const host of HOSTS) {
    checkOffer(t, await get(await startHost(t, host, sallyport), '/articles/2', pay('right')), '/articles/2')
  }
  t.equal(await count('offered'), HOSTS.length)
  const { port, asked } = createPort()
  const rules = [{ ...(RULES[1] as RuleInput), monitor: true }]
  for (const [more, decision] of [
    [{ mode: 'monitor' }, { action: 'offer', enforced: false }],
    [{ policy: { preset: 'observe', rules } }, { action: 'allow', trial: { rule: 'paid', action: 'offer' } }],
  ] as const) {
    const { sallyport, seen } = await opened(t, more, port)
    t.equal((await get(await startHost(t, first, sallyport), '/articles/1', pay('right'))).status, 200)
    sallyport.drain()
    t.match(seen[0], { decision, payment: undefined })
  }
  t.same(asked, [])
})

const GOOGLEBOT = ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)']
/** Is in a range that comes with the data. */
const GOOGLE = '66.249.66.1'

const NET = { outbound: true, allowPrivate: ['127.0.0.0/8'] }

/** An endpoint that takes receipts as `payment.url` says, and what it was posted. */
async function openEndpoint(t: Test) {
  const { port } = createPort()
  const posted: unknown[] = []
  const url = await startOrigin(t, async (request, response) => {
    const body = await json(request)
    posted.push(body)
    const { receipt, offer, request: paid } = body as { receipt: Receipt; offer: Offer; request: PaidRequest }
    if (receipt.text === 'away') return void response.writeHead(502).end()
    if (receipt.text === 'cut') return void response.socket?.destroy()
    const answer =
      receipt.form === 'x402' ? await port.accept(receipt, offer, paid) : { accepted: true, receipt: 'bill_1' }
    response.end(JSON.stringify(answer))
  })
  return { url: `${url}/receipts`, posted }
}

t.test('an endpoint takes receipts, and promises of proven crawlers', async (t) => {
  const { url, posted } = await openEndpoint(t)
  const { sallyport, seen, faults } = await opened(t, { payment: { url, timeoutMs: 5_000 }, net: NET })
  for (const host of HOSTS.filter(({ name }) => ['the proxy', 'Express 5', 'fetch'].includes(name))) {
    const site = await startHost(t, host, sallyport)
    t.equal((await get(site, '/articles/1', pay('right'))).status, 200, host.name)
    t.equal((await get(site, '/articles/1', pay('wrong'))).status, 402)
    for (const text of ['away', 'cut']) t.equal((await get(site, '/articles/1', pay(text))).status, 503)
    const promise = (...fields: readonly string[]) => get(site, '/articles/1', [...GOOGLEBOT, ...fields], GOOGLE)
    const before = posted.length
    const paid = await promise('crawler-exact-price', 'USD 0.010')
    t.match([paid.status, paid.headers['crawler-charged']], [200, 'USD 0.01'])
    t.match(posted.at(-1), {
      receipt: { form: 'exact', text: 'USD 0.010' },
      request: { client: GOOGLE, rule: 'paid', crawler: { name: 'Googlebot', operator: 'Google', proven: true } },
    })
    t.equal((await promise('crawler-max-price', 'USD 1')).status, 200)
    for (const [reason, ...fields] of [
      ['the price is USD 0.01', 'crawler-exact-price', 'USD 0.02'],
      ['the price is USD 0.01', 'crawler-max-price', 'USD 0.009'],
      ['the price is USD 0.01', 'crawler-max-price', 'EUR 1'],
      ['the promise is not a price', 'crawler-max-price', '1 USD'],
      ['the request has several receipts', 'crawler-max-price', 'USD 1', 'crawler-exact-price', 'USD 0.01'],
      ['the receipt is not base64', 'PAYMENT-SIGNATURE', '{}'],
    ] as const) {
      const refused = await promise(...fields)
      t.match([refused.status, JSON.parse(refused.body).message], [402, `The receipt was rejected: ${reason}`])
    }
    const claimed = await get(site, '/articles/1', ['User-Agent', 'GPTBot/1.2', 'crawler-max-price', 'USD 1'])
    const { message } = JSON.parse(claimed.body)
    t.match([claimed.status, message], [402, /the crawler that promises payment is not verified/])
    t.equal(posted.length - before, 2, 'what cannot be a receipt is not posted')
  }
  sallyport.drain()
  t.match(faults.slice(0, 2), [/payment: the status is 502/, /payment: /])
  t.ok(seen.some(({ payment }) => payment?.receipt === 'bill_1'))
})

t.test('a reload changes the endpoint, and takes it away', async (t) => {
  const [one, other] = [await openEndpoint(t), await openEndpoint(t)]
  const { sallyport } = await opened(t, { net: NET, payment: { url: one.url } })
  const site = await startHost(t, first, sallyport)
  const turn = (payment: NonNullable<ConfigInput['payment']>) =>
    sallyport.reload({ ...sallyport.config, payment } as ConfigInput)
  const readStatus = async () => (await get(site, '/articles/1', pay('right'))).status
  t.equal(await readStatus(), 200)
  t.match(await turn({ url: other.url }), { changed: ['payment.url'], needRestart: [] })
  t.equal(await readStatus(), 200)
  t.same([one.posted.length, other.posted.length], [1, 1])
  await turn({})
  t.equal(await readStatus(), 402)
})
