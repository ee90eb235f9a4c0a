import type { FetchAnswer, FetchRequest, Port43Answer, Port43Question } from '@sallyport/core'
import { createFakeClock } from '@sallyport/core/testing'
import t from 'tap'
import { createRegistries, type Registries } from '../../src/whois/registries.ts'
import { createWhois } from '../../src/whois/whois.ts'

const EXAMPLE = { domain: 'example.com', tld: 'com' }

interface World {
  readonly rdap?: ((request: FetchRequest) => FetchAnswer | Promise<FetchAnswer>) | undefined
  readonly port43?: ((question: Port43Question) => Port43Answer | Promise<Port43Answer>) | undefined
  readonly registries?: Registries | undefined
}

/** The service in a world of its own: what it asked, over a clock that stands still. */
function whoisIn({ rdap = () => FAILED, port43 = () => FAILED, registries = createRegistries() }: World) {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const fetched: FetchRequest[] = []
  const asked: Port43Question[] = []
  const whois = createWhois({
    clock,
    outbound: {
      async fetch(request) {
        fetched.push(request)
        return rdap(request)
      },
    },
    port43: {
      async ask(question) {
        asked.push(question)
        return port43(question)
      },
    },
    turns: { rdap: async () => true, port43: async () => true },
    registries: async () => registries,
  })
  return { whois, clock, fetched, asked }
}

const said = (text: string) => ({ state: 'answered', text }) as const
const FAILED = { state: 'failed', reason: 'ECONNREFUSED' } as const

function answered(status: number, body: string, type = 'application/rdap+json'): FetchAnswer {
  async function* bytes() {
    yield new TextEncoder().encode(body)
  }
  return { state: 'answered', status, headers: { 'content-type': type }, body: bytes() }
}

const writeRdap = (ldhName: string, more: object = {}) =>
  JSON.stringify({ objectClassName: 'domain', ldhName, ...more })

const TEXT = `Domain Name: EXAMPLE.COM
Registrar WHOIS Server: whois.markmonitor.com
Registrar: Example Registrar
Creation Date: 2001-02-03T00:00:00Z
Name Server: ns1.example.net
`

t.test('RDAP is asked first, within its bounds, and port 43 is not when it answers', async (t) => {
  const rdap = () => answered(200, writeRdap('example.com', { status: ['active'] }))
  const { whois, fetched, asked } = whoisIn({ rdap })
  t.match(await whois.find(EXAMPLE), { state: 'registered', domain: 'example.com', record: { status: ['ok'] } })
  const bounds = { maxBytes: 262_144, timeoutMs: 3_000, redirects: 2 }
  const url = 'https://rdap.verisign.com/com/v1/domain/example.com'
  t.strictSame(fetched, [{ url, headers: { accept: 'application/rdap+json' }, ...bounds }])
  t.strictSame(asked, [])
})

t.test('port 43 is asked if RDAP gives no answer', async (t) => {
  const silent: readonly FetchAnswer[] = [
    FAILED,
    answered(429, ''),
    answered(302, ''),
    answered(404, '<h1>404</h1>', 'text/html'),
    answered(200, '<h1>hello</h1>'),
    answered(200, writeRdap('example.net')),
  ]
  for (const answer of silent) {
    const { whois, asked } = whoisIn({ rdap: () => answer, port43: () => said('No match for "X"') })
    t.strictSame(await whois.find(EXAMPLE), { state: 'free', domain: 'example.com' })
    t.match(asked, [{ host: 'whois.verisign-grs.com', port: 43, question: 'domain example.com', timeoutMs: 4_000 }])
  }
})

t.test('a registry without RDAP is asked over port 43 at once; one that is not known is not asked', async (t) => {
  const { whois, fetched, asked } = whoisIn({ port43: () => said('Domain: example.se\nStatus: free') })
  t.strictSame(await whois.find({ domain: 'example.se', tld: 'se' }), { state: 'free', domain: 'example.se' })
  t.match(asked, [{ host: 'whois.iis.se', question: 'example.se' }])
  const unheard = await whois.find({ domain: 'example.unheard-of', tld: 'unheard-of' })
  t.match(unheard, { state: 'failed', reason: 'no registry of .unheard-of is known' })
  t.strictSame([fetched.length, asked.length], [0, 1])
})

t.test('one referral is followed, to a known registrar, and adds to what the registry says', async (t) => {
  const registrar =
    'Registrar: Another\nExpiration Date: 2031-02-03\nRegistrant Name: Domain Privacy\nWhois Server: whois.godaddy.com'
  const port43: World['port43'] = ({ host }) => said(host === 'whois.markmonitor.com' ? registrar : TEXT)
  const { whois, asked } = whoisIn({ port43 })
  t.strictSame(await whois.find(EXAMPLE), {
    state: 'registered',
    domain: 'example.com',
    record: {
      registrar: 'Example Registrar',
      registeredOn: '2001-02-03',
      expiresOn: '2031-02-03',
      nameservers: ['ns1.example.net'],
      status: [],
      privacyProtection: true,
    },
  })
  const questions = asked.map(({ host, port, question }) => `${host}:${port} ${question}`)
  t.same(questions, ['whois.verisign-grs.com:43 domain example.com', 'whois.markmonitor.com:43 example.com'])
})

t.test('a referral to anywhere else is not followed, and one that fails takes nothing away', async (t) => {
  for (const host of ['localhost', '127.0.0.1:22', 'whois.evil.example', 'rwhois://10.0.0.1']) {
    const text = TEXT.replace('whois.markmonitor.com', host)
    const { whois, asked } = whoisIn({ port43: () => said(text) })
    t.match(await whois.find(EXAMPLE), { state: 'registered', record: { registrar: 'Example Registrar' } }, host)
    t.equal(asked.length, 1, host)
  }
  const itself = createRegistries({ servers: new Map([['com', { host: 'whois.markmonitor.com', port: 43 }]]) })
  const loop = whoisIn({ registries: itself, port43: () => said(TEXT) })
  t.match(await loop.whois.find(EXAMPLE), { state: 'registered' })
  t.equal(loop.asked.length, 1, 'a server that refers to itself is not asked again')
  for (const answer of [FAILED, said('No match'), said('')]) {
    const { whois } = whoisIn({ port43: ({ host }) => (host === 'whois.markmonitor.com' ? answer : said(TEXT)) })
    t.match(await whois.find(EXAMPLE), { state: 'registered', record: { nameservers: ['ns1.example.net'] } })
  }
})

t.test('silence, refusal and noise are failures with their reasons, never an empty record', async (t) => {
  const rows: readonly (readonly [Port43Answer, string])[] = [
    [FAILED, 'ECONNREFUSED; ECONNREFUSED'],
    [said('You have exceeded your quota of queries.'), 'ECONNREFUSED; throttled'],
    [said('Hello.'), 'ECONNREFUSED; unreadable'],
  ]
  for (const [answer, reason] of rows) {
    const { whois } = whoisIn({ port43: () => answer })
    t.strictSame(await whois.find(EXAMPLE), { state: 'failed', domain: 'example.com', reason })
  }
})

t.test('an answer is kept an hour, a free name ten minutes, a failure for seconds', async (t) => {
  const rows: readonly (readonly [FetchAnswer | undefined, keptMs: number])[] = [
    [undefined, 3_600_000],
    [answered(404, '{}'), 600_000],
    [FAILED, 30_000],
  ]
  for (const [answer, keptMs] of rows) {
    const { whois, clock, fetched } = whoisIn({ rdap: () => answer ?? answered(200, writeRdap('example.com')) })
    const first = await whois.find(EXAMPLE)
    clock.advance(keptMs - 1)
    t.strictSame(await whois.find(EXAMPLE), first)
    t.equal(fetched.length, 1, 'from the cache')
    clock.advance(2)
    await whois.find(EXAMPLE)
    t.equal(fetched.length, 2, 'asked again')
  }
})

t.test('many who ask for one domain at once are one question', async (t) => {
  let give = (_answer: FetchAnswer) => {}
  const { whois, fetched } = whoisIn({ rdap: () => new Promise((resolve) => (give = resolve)) })
  const all = Array.from({ length: 100 }, () => whois.find(EXAMPLE))
  await new Promise((resolve) => setImmediate(resolve))
  give(answered(200, writeRdap('example.com')))
  const answers = await Promise.all(all)
  t.equal(new Set(answers).size, 1)
  t.equal(fetched.length, 1)
})

t.test('time that one service took is gone for the next, and with none left nobody is asked', async (t) => {
  const { whois, clock, asked } = whoisIn({
    rdap: () => {
      clock.advance(3_000)
      return FAILED
    },
    port43: () => {
      clock.advance(980)
      return said(TEXT)
    },
  })
  t.match(await whois.find(EXAMPLE), { state: 'registered' })
  t.match(asked, [{ timeoutMs: 1_000 }], 'the registrar is not asked with 20 ms left')
  const late = whoisIn({})
  t.match(await late.whois.find(EXAMPLE, 10), { state: 'failed', reason: 'no time left; no time left' })
  t.strictSame([late.fetched.length, late.asked.length], [0, 0])
})

t.test('a failure for want of time is nobody else’s answer', async (t) => {
  const rdap: World['rdap'] = ({ timeoutMs }) => (timeoutMs < 2_000 ? FAILED : answered(200, writeRdap('example.com')))
  const { whois, clock } = whoisIn({ rdap })
  t.match(await whois.find(EXAMPLE, 1_000), { state: 'failed' })
  t.match(await whois.find(EXAMPLE), { state: 'registered' })
  clock.advance(1)
  t.match(await whois.find(EXAMPLE, 1_000), { state: 'registered' }, 'and an answer is everybody’s')
})
