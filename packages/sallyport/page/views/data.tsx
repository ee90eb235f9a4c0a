import { useState } from 'preact/hooks'
import { type Answer, type Failure, type Got, maySteer, post } from '../api.ts'
import { Outcome, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
import { age, count } from '../words.ts'

type Source = Got<'data'>['sources'][number]

/** The sources: how old, how large, under what licence, and what went wrong. */
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
                ? 'what is due is downloaded'
                : readOnly
                  ? 'nothing is written (data.readOnly)'
                  : 'updated by hand (data.refresh: false)'
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
                    ? 'No source is downloaded with this configuration.'
                    : outcomes.map(outcomeText).join(' · ')}
                </p>
              )}
            </Outcome>
            <Loaded
              sources={sources.filter(({ state }) => state !== 'absent')}
              update={maySteer() && !readOnly ? (source) => void update(source) : undefined}
            />
          </Card>
          <Card title="Not there" wide aside="what is not loaded is not known; it never counts as no">
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
  /** Absent: nobody may. */
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
        ['Date', (source) => <Dated source={source} />, 'whole'],
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
        ['Why', ({ reason }) => reason ?? 'not switched on, or not downloaded yet'],
        ['Licence', ({ licence }) => licence],
      ]}
    />
  )
}

/** Returns true for a source that should be looked at first. */
function isAmiss({ state, stale, error }: Source): boolean {
  return stale || state === 'refused' || error !== undefined
}

function Freshness({ sources, mayUpdate }: { sources: readonly Source[]; mayUpdate: boolean }) {
  const old = sources.filter((source) => source.state === 'loaded' && source.stale)
  const stale = old.filter((source) => !source.shipped)
  const shipped = old.filter((source) => !stale.includes(source))
  if (old.length === 0) return <p class="quiet">All data in use is fresh.</p>
  if (stale.length === 0) {
    return (
      <p class="quiet">
        As shipped: {shipped.map(({ id, date }) => `${id}, of ${date}`).join('; ')}. A newer one is loaded by{' '}
        <code>sallyport data update</code>.
      </p>
    )
  }
  return (
    <p class="failure">
      Past its age: {stale.map(({ id }) => id).join(', ')}.{!mayUpdate && ' A token that steers updates it here.'}
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
  if (stale)
    return <Badge name={shipped ? 'shipped' : 'stale'}>{shipped ? `shipped, of ${date}` : 'past its age'}</Badge>
  return <Badge name={state === 'refused' ? 'fail' : state}>{state}</Badge>
}

function Dated({ source: { date, ageSeconds, checked } }: { source: Source }) {
  return (
    <>
      {date} {ageSeconds !== undefined && <div class="quiet">{age(ageSeconds)} old</div>}
      {checked && (
        <div class="quiet">
          checked <Ago at={checked} />
        </div>
      )}
    </>
  )
}
