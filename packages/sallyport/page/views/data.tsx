import { useState } from 'preact/hooks'
import { type Answer, maySteer, post } from '../api.ts'
import { Plain } from '../parts/buttons.tsx'
import { Outcome, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Ago, Card, Table } from '../parts/pieces.tsx'
import { type Source, SourceState, SourceTrouble } from '../parts/source.tsx'
import { age, count } from '../words.ts'

/** Shows the sources: their age, size and licence, and their faults. */
export function Data() {
  const loaded = useLoad('data', {}, 15_000)
  const [updated, act] = useAction<Answer<'POST', 'data/update'>>()
  const [isBusy, setBusy] = useState(false)
  const update = async (source?: string): Promise<void> => {
    setBusy(true)
    await act(post('data/update', source === undefined ? {} : { source }))
    setBusy(false)
    loaded.reload()
  }
  return (
    <Shown loaded={loaded}>
      {({ refresh, readOnly, updating, sources }) => {
        const mayUpdate = maySteer() && !readOnly
        return (
          <Card
            title="Data sources"
            aside={
              refresh
                ? 'downloaded when due'
                : readOnly
                  ? 'read-only (data.readOnly)'
                  : 'updated manually (data.refresh: false)'
            }
          >
            {mayUpdate && (
              <div class="actions">
                <button type="button" disabled={isBusy || updating} onClick={() => void update()}>
                  {isBusy || updating ? 'Updating…' : 'Update all now'}
                </button>
              </div>
            )}
            <Outcome of={updated}>
              {({ outcomes }) => (
                <p>
                  {outcomes.length === 0
                    ? 'This configuration downloads no source.'
                    : outcomes.map(outcomeText).join(' · ')}
                </p>
              )}
            </Outcome>
            <Table
              label="Sources"
              rows={sources.toSorted((x, y) => rank(x) - rank(y))}
              name={({ id }) => id}
              columns={[
                ['Source', (source) => <Named source={source} />],
                ['State', (source) => <SourceState source={source} />],
                ['Date', (source) => <Dated source={source} />],
                ['Entries', ({ entries }) => entries !== undefined && count(entries)],
                mayUpdate && [
                  'Actions',
                  ({ id, checked }) =>
                    checked !== undefined && (
                      <Plain onClick={() => void update(id)} aria-label={`Update ${id}`}>
                        Update
                      </Plain>
                    ),
                ],
              ]}
            />
            <p class="quiet">Facts from absent sources are unknown, not negative.</p>
          </Card>
        )
      }}
    </Shown>
  )
}

function outcomeText(outcome: Answer<'POST', 'data/update'>['outcomes'][number]): string {
  return `${outcome.source} ${outcome.state} ${'reason' in outcome ? outcome.reason : ''}`.trim()
}

/** Puts sources that need attention first, and absent sources last. */
function rank({ state, stale, error }: Source): number {
  if (stale || state === 'refused' || error !== undefined) return 0
  return state === 'absent' ? 2 : 1
}

function Named({ source }: { source: Source }) {
  const { id, title, licence, credit } = source
  return (
    <>
      <strong>{id}</strong> <div class="quiet">{title}</div>
      <div class="quiet credit">{[licence, credit].filter(Boolean).join(', ')}</div>
      <SourceTrouble source={source} />
    </>
  )
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
