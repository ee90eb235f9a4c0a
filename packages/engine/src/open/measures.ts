import {
  type BanList,
  type Behaviour,
  type Clock,
  type Dns,
  type Inspector,
  isStale,
  type SourceStatus,
  type Whois,
} from '@sallyport/core'
import type { Provenance } from '#attestation'
import { oldestList } from '#datasets/service'
import type { MetricId, Metrics, Reading } from '#metrics'
import type { DecisionLog, LoadMeter } from '#service'

/** Lists the parts of a service that every scrape reads. */
export interface Measured {
  readonly clock: Clock
  readonly sources: () => readonly SourceStatus[]
  readonly load: Pick<LoadMeter, 'now' | 'isOn'>
  readonly inspection: Pick<Inspector, 'visits'>
  readonly behaviour: Pick<Behaviour, 'habits' | 'size'>
  readonly bans: BanList
  readonly provenance: Pick<Provenance, 'status'>
  readonly log: Pick<DecisionLog, 'lost'>
}

/** Lets the metrics of a service read its state at every scrape. */
export function measure(
  { read }: Pick<Metrics, 'read'>,
  { clock, sources, load, inspection, behaviour, bans, provenance, log }: Measured,
): void {
  const readSources = (id: MetricId, value: (source: SourceStatus) => number | undefined): void =>
    read(id, () =>
      sources().flatMap((source) => {
        const found = value(source)
        return found === undefined ? [] : [[[source.id], found] as const]
      }),
    )
  readSources('sourceAge', ({ state, checked, date }) => {
    const lastTrue = checked ?? date
    return state !== 'loaded' || lastTrue === undefined ? undefined : (clock.now() - Date.parse(lastTrue)) / 1_000
  })
  readSources('sourceEntries', ({ state, entries }) => (state === 'loaded' ? entries : undefined))
  readSources('sourceStale', (source) => (source.state === 'loaded' ? Number(isStale(source, clock.now())) : undefined))
  readSources('sourceErrors', ({ state, error }) =>
    state === 'absent' && error === undefined ? undefined : Number(state === 'refused' || error !== undefined),
  )
  read('oldestList', () => {
    const oldest = oldestList(sources(), clock.now())
    return oldest === undefined ? [] : [[[oldest.id], oldest.ageMs / 1_000]]
  })
  read('load', () => [
    [['now'], load.now()],
    [['on'], Number(load.isOn)],
  ])
  read('visits', () => [
    [['true'], inspection.visits.known],
    [['false'], inspection.visits.fresh],
  ])
  read('behaviour', () => behaviour.habits.map(({ host, habit, isActive }) => [[host, habit], Number(isActive)]))
  read('behaviourVisits', () => [[[], behaviour.size(clock.now())]])
  read('bans', async () => [[[], (await bans.list()).length]])
  read('ledgerUncovered', async () => ledgerReading((await provenance.status())?.uncovered))
  read('ledgerCheckpoints', async () => ledgerReading((await provenance.status())?.signed))
  read('logLost', () => [[[], log.lost]])
}

function ledgerReading(value: number | undefined): readonly Reading[] {
  return value === undefined ? [] : [[[], value]]
}

/** Wraps a DNS and counts its questions by their outcomes. */
export function countedDns(dns: Dns, { add }: Pick<Metrics, 'add'>): Dns {
  const counted = async <Answer extends { readonly state: string }>(kind: string, answer: Promise<Answer>) => {
    const answered = await answer
    add('dns', [kind, answered.state])
    return answered
  }
  const { resolveMx } = dns
  return {
    resolve: (name, family) => counted('address', dns.resolve(name, family)),
    resolvePtr: (address) => counted('reverse', dns.resolvePtr(address)),
    ...(resolveMx && { resolveMx: (name: string) => counted('mail', resolveMx(name)) }),
  }
}

/** Wraps a WHOIS and counts its questions by their outcomes. */
export function countedWhois(whois: Whois, { add }: Pick<Metrics, 'add'>): Whois {
  return {
    async find(...asked) {
      const answer = await whois.find(...asked)
      add('whois', [answer.state])
      return answer
    },
  }
}
