import { Empty, Shown, useLoad } from '../parts/load.tsx'
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
              Those of the console are remembered until a restart, and reloads are on standard output alone;{' '}
              <code>log.file</code> keeps both.
            </p>
          )}
          {actions.length === 0 ? (
            <Empty>No changes yet. Changes made here or by a command are listed.</Empty>
          ) : (
            <Table label="Actions" head={['When', 'Action', 'By', 'Outcome', 'Details']}>
              {actions.map(({ time, audit, who, error, details = {} }, index) => (
                <tr key={`${time} ${index}`}>
                  <td>
                    <Ago at={time} />
                  </td>
                  <td>{audit}</td>
                  <td>{who}</td>
                  <td>{error === undefined ? <Badge name="ok">done</Badge> : <Badge name="fail">{error}</Badge>}</td>
                  <td class="code">
                    {clipped(
                      Object.entries(details)
                        .filter(([, value]) => value !== undefined)
                        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
                        .join(', '),
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </Card>
      )}
    </Shown>
  )
}
