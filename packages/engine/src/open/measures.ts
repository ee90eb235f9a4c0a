import {
  type BanList,
  type Clock,
  type Dns,
  type Inspector,
  isStale,
  type SourceStatus,
  type Whois,
} from '@sallyport/core'
import type { Provenance } from '#attestation'
import { oldestList } from '#datasets/service'
import type { Metrics, Reading } from '#metrics'
import type { DecisionLog, LoadMeter } from '#service'

/** The parts of a service that every scrape reads. */
export interface Measured {
  readonly clock: Clock
  readonly sources: () => readonly SourceStatus[]
  readonly load: Pick<LoadMeter, 'now' | 'isOn'>
  readonly inspection: Pick<Inspector, 'visits'>
  readonly bans: BanList
  readonly provenance: Pick<Provenance, 'status'>
  readonly log: Pick<DecisionLog, 'lost'>
}

/** Has the metrics of a service read what it knows of itself. */
export function measure(metrics: Metrics, { clock, sources, load, inspection, bans, provenance, log }: Measured): void {
  const ofSources = (value: (source: ReturnType<typeof sources>[number]) => number | undefined) => (): Reading[] =>
    sources().flatMap((source) => {
      const read = value(source)
      return read === undefined ? [] : [[[source.id], read] as const]
    })
  metrics.read(
    'sourceAge',
    ofSources(({ state, checked, date }) => {
      const lastTrue = checked ?? date
      return state !== 'loaded' || lastTrue === undefined ? undefined : (clock.now() - Date.parse(lastTrue)) / 1_000
    }),
  )
  metrics.read('oldestList', () => {
    const oldest = oldestList(sources(), clock.now())
    return oldest === undefined ? [] : [[[oldest.id], oldest.ageMs / 1_000]]
  })
  metrics.read(
    'sourceEntries',
    ofSources(({ state, entries }) => (state === 'loaded' ? entries : undefined)),
  )
  metrics.read(
    'sourceStale',
    ofSources((source) => (source.state === 'loaded' ? Number(isStale(source, clock.now())) : undefined)),
  )
  metrics.read(
    'sourceErrors',
    ofSources(({ state, error }) =>
      state === 'absent' && error === undefined ? undefined : Number(state === 'refused' || error !== undefined),
    ),
  )
  metrics.read('load', () => [
    [['now'], load.now()],
    [['on'], Number(load.isOn)],
  ])
  metrics.read('visits', () => [
    [['true'], inspection.visits.known],
    [['false'], inspection.visits.fresh],
  ])
  metrics.read('bans', async () => [[[], (await bans.list()).length]])
  metrics.read('ledgerUncovered', async () => ledgerReading((await provenance.status())?.uncovered))
  metrics.read('ledgerCheckpoints', async () => ledgerReading((await provenance.status())?.signed))
  metrics.read('logLost', () => [[[], log.lost]])
}

/** A ledger that is not open has no values. */
function ledgerReading(value: number | undefined): readonly Reading[] {
  return value === undefined ? [] : [[[], value]]
}

/** A DNS whose questions are counted by what came of them. */
export function countedDns(dns: Dns, { add }: Pick<Metrics, 'add'>): Dns {
  const counted = async <Answer extends { readonly state: string }>(kind: string, answer: Promise<Answer>) => {
    const answered = await answer
    add('dns', [kind, answered.state])
    return answered
  }
  return {
    resolve: (name, family) => counted('address', dns.resolve(name, family)),
    resolvePtr: (address) => counted('reverse', dns.resolvePtr(address)),
  }
}

/** A WHOIS whose questions are counted by what came of them. */
export function countedWhois(whois: Whois, { add }: Pick<Metrics, 'add'>): Whois {
  return {
    async find(domain, withinMs, asker) {
      const answer = await whois.find(domain, withinMs, asker)
      add('whois', [answer.state])
      return answer
    },
  }
}
