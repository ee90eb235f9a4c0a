import { counted, type InspectionRequest, type Match, type Rule } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { browserFields, makeRequest } from './browser.ts'
import { makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, compareRounds, type Measured, measure, repeat, scaled } from './rounds.ts'
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

/** The most that rules may cost beside ten. They are asked in order, so that the cost grows in a line. */
const GROWTHS = [
  { count: 100, atMost: 6 },
  { count: 1_000, atMost: 20 },
] as const

function clockText(minutes: number): string {
  return [Math.trunc(minutes / 60) % 24, minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
}

const MIX = ['userAgent', 'path', 'headerValue', 'query', 'address'] as const

/** Measures a decision by few and by many rules of each word, and by a mix of rules. */
export async function benchPolicy(run: Run): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false }, policy: { preset: 'observe' } })
  const requests = visitorAddresses(VISITORS).map(requestFrom)
  const turns = run.pick(2, 1)
  const createCandidate = (name: string, matches: readonly Match[]): Candidate => {
    const rules = matches.map((match, at): Rule => ({ id: `r${at}`, match, action: 'block' }))
    const { decide } = sallyport.decider({ policy: { preset: 'observe', rules } as never })
    return repeat(name, VISITORS * turns, (at) => decide(requests[at % VISITORS] as InspectionRequest))
  }
  const mixRules = (count: number) =>
    Array.from({ length: count }, (_, at) => WORDS[MIX[at % MIX.length] as string]?.(at) ?? {})
  const counts = run.pick([1, 10, 100, 1_000], [10, 1_000])
  const cells = counts.flatMap((count) => {
    const words = Object.entries(WORDS).map(([name, match]) =>
      createCandidate(
        name,
        Array.from({ length: count }, (_, at) => match(at)),
      ),
    )
    return [...words, createCandidate('a mix', mixRules(count))].map((candidate) => ({ count, candidate }))
  })
  const measured = await measure(
    run,
    cells.map(({ candidate }) => candidate),
    { rounds: 3, warmUp: 3 },
  )
  const listRounds = (name: string, count: number) =>
    measured.find((row, at) => row.name === name && cells[at]?.count === count)?.rounds ?? []
  const times = cells.map(({ count, candidate }, at) => {
    const value = scaled((measured[at] as Measured).nanoseconds, 1e-3)
    return makeFigure(candidate.name, counted(count, 'rule'), 'µs', value)
  })
  const names = [...new Set(cells.map(({ candidate }) => candidate.name))]
  const growths = names.flatMap((name) =>
    GROWTHS.filter(({ count }) => counts.includes(count)).map(({ count, atMost }) => {
      const value = compareRounds(listRounds(name, count), listRounds(name, 10))
      return makeFigure(name, `${count.toLocaleString('en')} beside 10`, 'times', value, { atMost })
    }),
  )
  run.table({ title: 'A decision of a browser that no rule matches', figures: [...times, ...growths] })
  await sallyport.close()
}

function requestFrom(address: string): InspectionRequest {
  return makeRequest({
    target: '/articles/2026/the-gate?page=7&utm_source=x',
    scheme: 'https',
    ja4: 't13d1516h2_8daaf6152771_02713d6af862',
    fields: [...browserFields(address), 'Cookie', 'id=17; theme=dark', 'Referer', 'https://search.example/?q=gate'],
  })
}
