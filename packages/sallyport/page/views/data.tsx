import { useState } from 'preact/hooks'
import { type Answer, type Failure, type Got, maySteer, post } from '../api.ts'
import { Outcome, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
import { age, count } from '../words.ts'

type Source = Got<'data'>['sources'][number]

/** Shows the sources: their age, size and licence, and their faults. */
export function Data() {
  const loaded = useLoad('data', {}, 15_000)
  const [updated, setUpdated] = useState<Answer<'POST', 'data/update'> | Failure | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const update = async (source?: string): Promise<void> => {
    setBusy(true)
    setUpdated(await post('data/update', source === undefined ? {} : { source }).catch(toFailure))
    setBusy(false)
    loaded.reload()
  }
  return (
    <Shown loaded={loaded}>
      {({ refresh, readOnly, updating, sources }) => (
        <div class="grid">
          <Card
            title="In use"
            wide
            aside={
              refresh
                ? 'downloaded when due'
                : readOnly
                  ? 'read-only (data.readOnly)'
                  : 'updated manually (data.refresh: false)'
            }
          >
            {maySteer() && !readOnly && (
              <div class="actions">
                <button type="button" disabled={isBusy || updating} onClick={() => void update()}>
                  {isBusy || updating ? 'Updating…' : 'Update all now'}
                </button>
              </div>
            )}
            <Freshness sources={sources} mayUpdate={maySteer()} />
            <Outcome of={updated}>
              {({ outcomes }) => (
                <p>
                  {outcomes.length === 0
                    ? 'This configuration downloads no source.'
                    : outcomes.map(outcomeText).join(' · ')}
                </p>
              )}
            </Outcome>
            <Loaded
              sources={sources.filter(({ state }) => state !== 'absent')}
              update={maySteer() && !readOnly ? (source) => void update(source) : undefined}
            />
          </Card>
          <Card title="Not loaded" wide aside="facts from these sources are unknown, not negative">
            <Absent sources={sources.filter(({ state }) => state === 'absent')} />
          </Card>
        </div>
      )}
    </Shown>
  )
}

function outcomeText(outcome: Answer<'POST', 'data/update'>['outcomes'][number]): string {
  return `${outcome.source} ${outcome.state} ${'reason' in outcome ? outcome.reason : ''}`.trim()
}

interface LoadedProps {
  readonly sources: readonly Source[]
  /** Absent: the visitor may not update. */
  readonly update: ((source: string) => void) | undefined
}

function Loaded({ sources, update }: LoadedProps) {
  return (
    <Table
      label="Sources"
      rows={sources.toSorted((x, y) => Number(isAmiss(y)) - Number(isAmiss(x)))}
      name={({ id }) => id}
      columns={[
        ['Source', (source) => <Named source={source} />],
        ['State', (source) => <State source={source} />],
        ['Date', (source) => <Dated source={source} />],
        ['Entries', ({ entries }) => entries !== undefined && count(entries)],
        ['Licence', ({ licence }) => licence],
        update !== undefined && [
          'Actions',
          ({ id, checked }) =>
            checked !== undefined && (
              <button type="button" class="plain" onClick={() => update(id)} aria-label={`Update ${id}`}>
                Update
              </button>
            ),
        ],
      ]}
    />
  )
}

function Absent({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <Table
      label="Absent sources"
      rows={sources}
      name={({ id }) => id}
      columns={[
        [
          'Source',
          ({ id, title }) => (
            <>
              <strong>{id}</strong> <span class="quiet">{title}</span>
            </>
          ),
        ],
        ['Why', ({ reason }) => reason ?? 'not enabled, or not downloaded yet'],
        ['Licence', ({ licence }) => licence],
      ]}
    />
  )
}

/** Reports whether a source needs attention first. */
function isAmiss({ state, stale, error }: Source): boolean {
  return stale || state === 'refused' || error !== undefined
}

function Freshness({ sources, mayUpdate }: { sources: readonly Source[]; mayUpdate: boolean }) {
  const old = sources.filter((source) => source.state === 'loaded' && source.stale)
  const stale = old.filter((source) => !source.shipped)
  const shipped = old.filter((source) => !stale.includes(source))
  if (old.length === 0) return <p class="quiet">All data in use is up to date.</p>
  if (stale.length === 0) {
    return (
      <p class="quiet">
        Bundled data: {shipped.map(({ id, date }) => `${id}, ${date}`).join('; ')}. To load newer data, run{' '}
        <code>sallyport data update</code>.
      </p>
    )
  }
  return (
    <p class="failure">
      Stale: {stale.map(({ id }) => id).join(', ')}.{!mayUpdate && ' To update it here, sign in with a steer token.'}
    </p>
  )
}

function Named({ source: { id, title, credit, error, reason, state } }: { source: Source }) {
  return (
    <>
      <strong>{id}</strong> <div class="quiet">{title}</div>
      {credit && <div class="quiet credit">{credit}</div>}
      {error && <div class="failure">{error}</div>}
      {!error && reason && <div class={state === 'refused' ? 'failure' : 'quiet'}>{reason}</div>}
    </>
  )
}

function State({ source: { state, stale, shipped, date } }: { source: Source }) {
  if (stale) return <Badge name={shipped ? 'shipped' : 'stale'}>{shipped ? `bundled, ${date}` : 'stale'}</Badge>
  return <Badge name={state === 'refused' ? 'fail' : state}>{state}</Badge>
}

function Dated({ source: { date, ageSeconds, kept, checked } }: { source: Source }) {
  return (
    <>
      {date && <time>{date}</time>}{' '}
      {ageSeconds !== undefined && kept !== undefined && (
        <div class="quiet">
          {age(ageSeconds)} old; about {Math.round(kept * 100)}% still accurate
        </div>
      )}
      {checked && (
        <div class="quiet">
          checked <Ago at={checked} />
        </div>
      )}
    </>
  )
}
