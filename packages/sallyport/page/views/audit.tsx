import { Shown, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
import { clipped, count } from '../words.ts'

/** The actions of operators, in the console and by commands. */
export function Audit() {
  const loaded = useLoad('audit', {}, 10_000)
  return (
    <Shown loaded={loaded}>
      {({ actions, silent, isKept }) => (
        <Card title="Actions of operators" wide aside="the newest first">
          {silent > 0 && <p class="failure">{count(silent)} of the processes did not answer.</p>}
          {!isKept && (
            <p class="quiet">
              The dataDir is read only: actions are remembered until a restart, and <code>log.file</code> keeps them.
            </p>
          )}
          <Table
            label="Actions"
            rows={actions}
            name={({ time, audit, who }) => `${time} ${audit} ${who}`}
            empty="No changes yet. Changes made here or by a command are listed."
            columns={[
              ['When', ({ time }) => <Ago at={time} />],
              ['Action', ({ audit }) => audit],
              ['By', ({ who }) => who],
              ['Outcome', ({ error }) => <Badge name={error === undefined ? 'ok' : 'fail'}>{error ?? 'done'}</Badge>],
              ['Details', ({ details = {} }) => clipped(detailsText(details)), 'code'],
            ]}
          />
        </Card>
      )}
    </Shown>
  )
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
