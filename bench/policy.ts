import { counted, type InspectionRequest, type Match, type Rule } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { browserFields } from './browser.ts'
import type { Run } from './report/run.ts'
import { type Candidate, type Measured, measure, ratiosOf, scaled } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const VISITORS = 500

/** One rule of each word, of many that differ; none matches a browser, so that every one may have to be asked. */
const WORDS: Readonly<Record<string, (at: number) => Match>> = {
  path: (at) => ({ path: [`/shop${at}/**`] }),
  userAgent: (at) => ({ userAgent: [`*Agent${at}*`] }),
  host: (at) => ({ host: [`shop${at}.example`] }),
  query: (at) => ({ query: { page: [`*word${at}*`] } }),
  cookie: (at) => ({ cookie: { theme: [`*word${at}*`] } }),
  headerValue: (at) => ({ headerValue: { accept: [`*word${at}*`] } }),
  address: (at) => ({ address: [`198.18.${at >> 8}.${at & 255}`] }),
  referer: (at) => ({ referer: [`*site${at}.example*`] }),
  contentType: (at) => ({ contentType: [`application/x-${at}`] }),
  language: (at) => ({ language: [`x${at}`] }),
  httpVersion: () => ({ httpVersion: ['1.0'] }),
  ja4: (at) => ({ ja4: [`t13d${at}_*`] }),
  share: () => ({ share: 1e-9 }),
  time: (at) => ({ time: { days: ['sun'], from: clockText(at), to: clockText(at + 1) } }),
  confidence: () => ({ confidence: { atLeast: 0.999 } }),
  pass: () => ({ pass: { atLeast: 1 } }),
  weight: () => ({ weight: { atLeast: 1_000 } }),
  load: () => ({ load: { atLeast: 1_000 } }),
  robots: () => ({ robots: ['disallowed'] }),
  not: () => ({ not: { method: ['GET'] } }),
  'not, each another one': (at) => ({ not: { path: ['/articles/**', `/shop${at}`] } }),
}

function clockText(minutes: number): string {
  return [Math.trunc(minutes / 60) % 24, minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
}

const MIX = ['userAgent', 'path', 'headerValue', 'query', 'address'] as const

/** A request as the other ways ask it: read before, which costs them nothing here. */
interface Read {
  readonly address: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: ReadonlyMap<string, string>
}

type Asks = (read: Read) => boolean
type Way = Readonly<Record<(typeof MIX)[number], (at: number) => Asks>>

/** Regular expressions over fields, one rule after the other, as Anubis asks its bots. */
const EXPRESSIONS: Way = {
  userAgent: (at) => tests(`Agent${at}`, ({ headers }) => headers.get('user-agent')),
  path: (at) => tests(`^/shop${at}/.*$`, ({ path }) => path),
  headerValue: (at) => tests(`word${at}`, ({ headers }) => headers.get('accept')),
  query: (at) => tests(`word${at}`, ({ query }) => query.get('page') ?? undefined),
  address: (at) => equals(at),
}

/** Compiled conditions in the manner of CEL, one rule after the other, as go-away asks its rules. */
const CONDITIONS: Way = {
  userAgent: (at) => (read) => read.headers.get('user-agent')?.includes(`Agent${at}`) === true,
  path: (at) => (read) => read.path.startsWith(`/shop${at}/`),
  headerValue: (at) => (read) => read.headers.get('accept')?.includes(`word${at}`) === true,
  query: (at) => (read) => read.query.get('page')?.includes(`word${at}`) === true,
  address: (at) => equals(at),
}

function tests(source: string, textOf: (read: Read) => string | undefined): Asks {
  const expression = new RegExp(source)
  return (read) => expression.test(textOf(read) ?? '')
}

function equals(at: number): Asks {
  const address = `198.18.${at >> 8}.${at & 255}`
  return (read) => read.address === address
}

/** A decision by few and by many rules of each word, and the same mix of rules asked in the ways of others. */
export async function benchPolicy(run: Run): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false }, policy: { preset: 'observe' } })
  const requests = visitorAddresses(VISITORS).map(requestFrom)
  const read = requests.map(readOf)
  const turns = run.pick(2, 1)
  const loop = <One>(name: string, all: readonly One[], judge: (one: One) => unknown): Candidate => ({
    name,
    operations: all.length * turns,
    run() {
      let last: unknown
      for (let turn = 0; turn < turns; turn++) for (const one of all) last = judge(one)
      return last
    },
  })
  const ruled = (name: string, matches: readonly Match[]): Candidate => {
    const rules = matches.map((match, at): Rule => ({ id: `r${at}`, match, action: 'block' }))
    const { decide } = sallyport.decider({ policy: { preset: 'observe', rules } as never })
    return loop(name, requests, decide)
  }
  const mixed = <Made>(count: number, makers: Readonly<Record<string, (at: number) => Made>>) =>
    Array.from({ length: count }, (_, at) => (makers[MIX[at % MIX.length] as string] as (at: number) => Made)(at))
  const asked = (name: string, asks: readonly Asks[]) => loop(name, read, (one) => asks.some((holds) => holds(one)))
  const counts = run.pick([1, 10, 100, 1_000], [10, 1_000])
  const cells = counts.flatMap((count) => {
    const words = Object.entries(WORDS).map(([name, match]) =>
      ruled(
        name,
        Array.from({ length: count }, (_, at) => match(at)),
      ),
    )
    const mixes = [
      ruled('a mix', mixed(count, WORDS)),
      asked('that mix in the way of Anubis', mixed(count, EXPRESSIONS)),
      asked('that mix in the way of go-away', mixed(count, CONDITIONS)),
    ]
    return [...words, ...mixes].map((candidate) => ({ count, candidate }))
  })
  const measured = await measure(
    run,
    cells.map(({ candidate }) => candidate),
    { rounds: 3, warmUp: 3 },
  )
  const roundsOf = (name: string, count: number) =>
    measured.find((row, at) => row.name === name && cells[at]?.count === count)?.rounds ?? []
  const times = cells.map(({ count, candidate }, at) => ({
    case: candidate.name,
    what: counted(count, 'rule'),
    unit: 'µs',
    value: scaled((measured[at] as Measured).nanoseconds, 1e-3),
  }))
  const growths = [...new Set(cells.map(({ candidate }) => candidate.name))].map((name) => ({
    case: name,
    what: '1,000 beside 10',
    unit: 'times',
    value: ratiosOf(roundsOf(name, 1_000), roundsOf(name, 10)),
    goal: { atMost: 4 },
  }))
  run.table({ title: 'A decision of a browser that no rule matches', figures: [...times, ...growths] })
  await sallyport.close()
}

function requestFrom(address: string): InspectionRequest {
  return {
    peer: '127.0.0.1',
    method: 'GET',
    target: '/articles/2026/the-gate?page=7&utm_source=x',
    scheme: 'https',
    httpVersion: '1.1',
    ja4: 't13d1516h2_8daaf6152771_02713d6af862',
    fields: [...browserFields(address), 'Cookie', 'id=17; theme=dark', 'Referer', 'https://search.example/?q=gate'],
  }
}

function readOf({ target, fields }: InspectionRequest): Read {
  const { pathname, searchParams } = new URL(target, 'https://site.example')
  const headers = new Map(
    Array.from({ length: fields.length / 2 }, (_, at) => [
      String(fields[at * 2]).toLowerCase(),
      String(fields[at * 2 + 1]),
    ]),
  )
  return { address: headers.get('x-forwarded-for') ?? '', path: pathname, query: searchParams, headers }
}
