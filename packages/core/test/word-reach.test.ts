import t from 'tap'
import { NO_VERDICT } from '../src/agent/judge.ts'
import { NOTHING_KNOWN } from '../src/network/classify.ts'
import { Asked } from '../src/policy/asked.ts'
import { createOnce, type MatchWord } from '../src/policy/match-word.ts'
import { MATCH_WORDS, type Match } from '../src/policy/match-words.ts'
import { readPath } from '../src/policy/path-readings.ts'
import { createPathSplitter } from '../src/policy/split-path.ts'
import type { Surroundings } from '../src/policy/surroundings.ts'
import { AGENT_BASES } from '../src/values/agent-verdict.ts'
import type { Inspection } from '../src/values/inspection.ts'
import { AGENT_CLASSES, NETWORK_CLASSES } from '../src/vocabulary.ts'
import { agentInspector, CHROME, fieldsOf, requestOf } from './agents.ts'

type Widest = { readonly [Word in keyof Match]-?: readonly [value: NonNullable<Match[Word]>, reach: string] }

/** The widest value of each word, and how far it reaches. */
const WIDEST: Widest = {
  address: [['0.0.0.0/0', '::/0'], 'known'],
  networkClass: [NETWORK_CLASSES, 'all'],
  networkConfidence: [{ atLeast: 0, atMost: 1 }, 'all'],
  botProbability: [{ atLeast: 0, atMost: 1 }, 'all'],
  country: [['unknown', 'DE', 'AT'], 'some'],
  asn: [[1], 'some'],
  provider: [['Any'], 'some'],
  path: [['/**'], 'all'],
  method: [['GET', 'POST'], 'some'],
  header: [{}, 'all'],
  time: [{ from: '09:00', to: '09:00' }, 'all'],
  userAgent: [['*'], 'some'],
  host: [['*'], 'some'],
  query: [{ q: ['*'] }, 'some'],
  cookie: [{ c: ['*'] }, 'some'],
  headerValue: [{ accept: ['*'] }, 'some'],
  referer: [['*'], 'some'],
  contentType: [['*'], 'some'],
  language: [['*'], 'some'],
  httpVersion: [['1.0', '1.1', '2'], 'some'],
  ja4: [['*'], 'some'],
  class: [AGENT_CLASSES, 'all'],
  basis: [AGENT_BASES, 'all'],
  headless: [false, 'some'],
  confidence: [{}, 'all'],
  identity: [['*'], 'some'],
  vendor: [['OpenAI'], 'some'],
  crawler: [['gptbot'], 'some'],
  crawlerOutcome: [['verified', 'spoofed', 'unverifiable'], 'some'],
  operator: [['OpenAI'], 'some'],
  purpose: [['training', 'search', 'seo'], 'some'],
  user: [['*'], 'some'],
  plan: [['*'], 'some'],
  weight: [{ atLeast: 0 }, 'all'],
  load: [{ atLeast: 0 }, 'known'],
  pass: [{ atLeast: 0 }, 'known'],
  share: [0.999, 'some'],
  robots: [['disallowed'], 'some'],
  not: [{ country: ['DE'] }, 'some'],
}

/** Inspections of which little is known, and one of which much is. */
const INSPECTIONS: readonly Inspection[] = [
  ...['/', '*', 'x', `/${'%25'.repeat(40)}41/..;/a`].map((target) => ({
    at: '2026-11-26T00:00:00.000Z',
    peer: '',
    client: { address: '', via: 'none' as const, malformed: false },
    request: { method: 'OPTIONS', ...readPath(target) },
    network: NOTHING_KNOWN,
    agent: NO_VERDICT,
    degraded: ['asn' as const, 'geo' as const],
  })),
  agentInspector().inspect(requestOf(fieldsOf(CHROME))),
]

const MEASURED: Surroundings = { load: { now: () => 0, latch: () => () => false } }

for (const [name, [value, reach]] of Object.entries(WIDEST)) {
  t.test(`the widest value of ${name} reaches ${reach}`, async (t) => {
    const word = MATCH_WORDS[name as keyof Match] as MatchWord<unknown>
    t.equal(word.values.reach(value), reach)
    const isMetByAll = (surroundings: Surroundings) => {
      const rule = {
        id: 'rule',
        action: 'block',
        splitter: createPathSplitter(),
        surroundings,
        once: createOnce(),
      } as const
      const test = word.test(value, rule)
      return INSPECTIONS.every((inspection) => test(inspection, new Asked({})) === true)
    }
    if (reach === 'all') t.ok(isMetByAll({}))
    if (reach === 'known') t.notOk(isMetByAll({}), 'not where it is unknown')
    if (name === 'load') t.ok(isMetByAll(MEASURED))
  })
}

t.test('a value that leaves something out reaches some', async (t) => {
  const some: readonly Match[] = [
    { address: ['0.0.0.0/0'] },
    { networkClass: NETWORK_CLASSES.slice(1) },
    { class: AGENT_CLASSES.slice(1) },
    { basis: AGENT_BASES.slice(1) },
    { confidence: { atMost: 0.9 } },
    { weight: { atMost: 100 } },
    { load: { atMost: 2 } },
    { header: { absent: ['x'] } },
    { time: { days: ['mon'] } },
    { time: { from: '09:00' } },
    { path: ['/*'] },
  ]
  for (const match of some) {
    for (const [name, value] of Object.entries(match)) {
      t.equal(
        (MATCH_WORDS[name as keyof Match] as MatchWord<unknown>).values.reach(value),
        'some',
        JSON.stringify(match),
      )
    }
  }
})
