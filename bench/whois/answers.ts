import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const REPOSITORY = join(import.meta.dirname, '../../..')
const FOLDER = join(process.env['SALLYPORT_SHARED_DATA'] ?? join(REPOSITORY, '../shared/data'), 'whois')

/** Facts that a collected answer is held against, by their names in the collection and in a `WhoisRecord`. */
const FACTS = [
  ['registrar', 'registrar'],
  ['created', 'registeredOn'],
  ['expires', 'expiresOn'],
  ['updated', 'lastUpdated'],
  ['nameservers', 'nameservers'],
  ['statuses', 'status'],
] as const

export type Fact = (typeof FACTS)[number][1]
export type State = 'registered' | 'free' | 'reserved' | 'throttled'

/** A parser's reading of an answer. */
export interface Reading {
  readonly state: State | 'unreadable' | 'crashed'
  readonly facts: Readonly<Partial<Record<Fact, unknown>>>
}

/** An answer as a server gave it, and what others read in it. */
export interface Collected {
  readonly raw: string
  readonly facts: Readonly<Partial<Record<Fact, unknown>>>
  /** Facts of the other files come with their states alone. */
  readonly judgedByFacts: boolean
  readonly state: State | undefined
  /** The same text is filed under one state only. */
  readonly filedOnce: boolean
}

interface Row {
  readonly raw: string
  readonly norm: Readonly<Record<string, unknown>>
  readonly expected: Readonly<Record<string, unknown>>
}

const BY_WORD: Readonly<Record<string, State>> = {
  found: 'registered',
  'not-found': 'free',
  reserved: 'reserved',
  throttled: 'throttled',
}

/** The collected answers, where they are here. */
export function collectedAnswers(): readonly Collected[] {
  if (!existsSync(FOLDER)) return []
  const rows = ['domains', 'not-found', 'registry-states', 'servers-2026'].flatMap((file) =>
    gunzipSync(readFileSync(join(FOLDER, `${file}.jsonl.gz`)))
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => ({ file, row: JSON.parse(line) as Row })),
  )
  const filed = new Map<string, Set<State>>()
  for (const { row } of rows) {
    const state = stateOf(row)
    if (state !== undefined) filed.set(row.raw.trim(), (filed.get(row.raw.trim()) ?? new Set()).add(state))
  }
  return rows.map(({ file, row }) => ({
    raw: row.raw,
    facts: Object.fromEntries(
      FACTS.flatMap(([name, fact]) => (row.norm[name] === undefined ? [] : [[fact, row.norm[name]]])),
    ),
    judgedByFacts: file === 'domains',
    state: stateOf(row),
    filedOnce: filed.get(row.raw.trim())?.size === 1,
  }))
}

/** How many of the expected facts a reading has. */
export function factsRight({ facts }: Collected, reading: Reading): readonly [right: number, all: number] {
  const expected = Object.entries(facts) as [Fact, unknown][]
  const right = expected.filter(([fact, value]) => plain(reading.facts[fact]) === plain(value))
  return [right.length, expected.length]
}

function stateOf({ norm, expected }: Row): State | undefined {
  if (typeof expected['state'] === 'string') return BY_WORD[expected['state']]
  if (norm['throttled'] === true) return 'throttled'
  if (expected['reserved?'] === true || expected['status'] === 'reserved') return 'reserved'
  if (norm['registered'] === true) return 'registered'
  if (norm['registered'] !== false) return undefined
  return expected['available?'] === false ? 'reserved' : 'free'
}

/** One spelling for what two readers may write in two: case, spaces, order. */
function plain(value: unknown): string {
  if (Array.isArray(value)) return [...new Set(value.map(plain))].sort().join(' ')
  return String(value ?? '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '')
    .trim()
}
