import { Shown, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Silent, Table } from '../parts/pieces.tsx'
import { clipped } from '../words.ts'

/** Lists what operators did, in the console and by commands. */
export function Audit() {
  const loaded = useLoad('audit', {}, 10_000)
  return (
    <Shown loaded={loaded}>
      {({ actions, silent, isKept }) => (
        <Card
          title="Operator actions"
          wide
          aside={isKept ? 'the latest 200; audit.log in dataDir has all actions' : 'the latest 200'}
        >
          <Silent count={silent} />
          {!isKept && (
            <p class="quiet">
              The dataDir is read-only, so actions are listed until a restart. <code>log.file</code> keeps them.
            </p>
          )}
          <Table
            label="Actions"
            rows={actions}
            name={({ time, audit, who }) => `${time} ${audit} ${who}`}
            empty="There are no actions yet. Changes in the console and by commands appear here."
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
