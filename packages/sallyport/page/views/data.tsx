import { useState } from 'preact/hooks'
import { type Answer, Failure, type Got, post, session } from '../api.ts'
import { Failed, Shown, toFailure, useLoad } from '../parts/load.tsx'
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
  const maySteer = session.value?.role === 'steer' || session.value?.role === 'admin'
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
            {maySteer && !readOnly && (
              <div class="actions">
                <button type="button" disabled={isBusy || updating} onClick={() => void update()}>
                  {isBusy || updating ? 'Updating…' : 'Update all now'}
                </button>
              </div>
            )}
            <Freshness sources={sources} mayUpdate={maySteer} />
            <div aria-live="polite">
              {updated instanceof Failure && <Failed failure={updated} />}
              {updated !== undefined && !(updated instanceof Failure) && (
                <p>
                  {updated.outcomes.length === 0
                    ? 'No source is downloaded with this configuration.'
                    : updated.outcomes
                        .map((outcome) =>
                          `${outcome.source} ${outcome.state} ${'reason' in outcome ? outcome.reason : ''}`.trim(),
                        )
                        .join(' · ')}
                </p>
              )}
            </div>
            <Loaded
              sources={sources.filter(({ state }) => state !== 'absent')}
              maySteer={maySteer}
              update={maySteer && !readOnly ? (source) => void update(source) : undefined}
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

interface LoadedProps {
  readonly sources: readonly Source[]
  readonly maySteer: boolean
  /** Absent: nobody may. */
  readonly update: ((source: string) => void) | undefined
}

function Loaded({ sources, maySteer, update }: LoadedProps) {
  const head = ['Source', 'State', 'Date', 'Entries', 'Licence', ...(maySteer ? ['Actions'] : [])]
  return (
    <Table label="Sources" head={head}>
      {sources
        .toSorted((x, y) => Number(isAmiss(y)) - Number(isAmiss(x)))
        .map((source) => (
          <SourceRow
            key={source.id}
            source={source}
            maySteer={maySteer}
            onUpdate={update !== undefined && source.checked !== undefined ? () => update(source.id) : undefined}
          />
        ))}
    </Table>
  )
}

function Absent({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <Table label="Absent sources" head={['Source', 'Why', 'Licence']}>
      {sources.map(({ id, title, reason, licence }) => (
        <tr key={id}>
          <td>
            <strong>{id}</strong> <span class="quiet">{title}</span>
          </td>
          <td>{reason ?? 'not switched on, or not downloaded yet'}</td>
          <td>{licence}</td>
        </tr>
      ))}
    </Table>
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

function SourceRow({
  source,
  maySteer,
  onUpdate,
}: {
  source: Source
  maySteer: boolean
  onUpdate: (() => void) | undefined
}) {
  const { id, title, state, stale, date, ageSeconds, entries, licence, credit, error, reason, checked } = source
  const isOld = stale && !source.shipped
  const shown = isOld ? 'past its age' : stale ? `shipped, of ${date}` : state
  return (
    <tr>
      <td>
        <strong>{id}</strong> <div class="quiet">{title}</div>
        {credit && <div class="quiet credit">{credit}</div>}
        {error && <div class="failure">{error}</div>}
        {!error && reason && <div class={state === 'refused' ? 'failure' : 'quiet'}>{reason}</div>}
      </td>
      <td>
        <Badge name={isOld ? 'stale' : stale ? 'shipped' : state === 'refused' ? 'fail' : state}>{shown}</Badge>
      </td>
      <td class="whole">
        {date} {ageSeconds !== undefined && <div class="quiet">{age(ageSeconds)} old</div>}
        {checked && (
          <div class="quiet">
            checked <Ago at={checked} />
          </div>
        )}
      </td>
      <td>{entries === undefined ? '' : count(entries)}</td>
      <td>{licence}</td>
      {maySteer && (
        <td>
          {onUpdate && (
            <button type="button" class="plain" onClick={onUpdate} aria-label={`Update ${id}`}>
              Update
            </button>
          )}
        </td>
      )}
    </tr>
  )
}
