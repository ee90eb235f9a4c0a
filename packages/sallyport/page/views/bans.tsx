import { useState } from 'preact/hooks'
import { Failure, type Got, post, session } from '../api.ts'
import { Empty, Failed, failureOf, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Table } from '../parts/pieces.tsx'
import { linkTo } from '../route.ts'
import { age, clipped, clock, moment } from '../words.ts'

/** Clients that are banned, or were beyond a limit. */
export function Bans() {
  const loaded = useLoad('bans', {}, 5_000)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const lift = async (id: string): Promise<void> => {
    const done = await post('bans/lift', { id }).catch(failureOf)
    setFailure(done instanceof Failure ? done : undefined)
    loaded.reload()
  }
  const isAdmin = session.value?.role === 'admin'
  return (
    <Shown loaded={loaded}>
      {({ bans, limited, strikes }) => (
        <div class="grid">
          <Card
            title="Bans in force"
            wide
            aside={bans.length > 0 && !isAdmin && 'Sign in as an administrator to lift one.'}
          >
            {failure && <Failed failure={failure} />}
            {bans.length === 0 ? (
              <Empty>Nobody is banned{strikes === null ? ': the policy has no strikes' : ''}.</Empty>
            ) : (
              <Table label="Bans" head={['Client', 'For', 'Strikes', 'Since', 'Ends in', 'Actions']}>
                {bans.map((ban) => (
                  <tr key={ban.id}>
                    <td class="code">
                      <Banned banned={ban.key} />
                    </td>
                    <td>{clipped(ban.on)}</td>
                    <td>{ban.count}</td>
                    <td>{moment(ban.since)}</td>
                    <td>{age((ban.until - Date.now()) / 1_000)}</td>
                    <td>
                      {isAdmin && (
                        <button
                          type="button"
                          class="plain"
                          onClick={() => void lift(ban.id)}
                          aria-label={`Lift the ban ${ban.id}`}
                        >
                          Lift
                        </button>
                      )}
                    </td>
                  </tr>
                ))}
              </Table>
            )}
          </Card>
          <BeyondLimits limited={limited} />
        </div>
      )}
    </Shown>
  )
}

function BeyondLimits({ limited }: Pick<Got<'bans'>, 'limited'>) {
  return (
    <Card title="Beyond a limit" wide aside="among the remembered requests">
      {limited.length === 0 ? (
        <Empty>Nobody was beyond a limit.</Empty>
      ) : (
        <Table label="Requests beyond a limit" head={['At', 'Request', 'From', 'Limit', 'Decided']}>
          {limited.map((row) => (
            <tr key={row.id}>
              <td>
                <a href={linkTo('request', { id: row.id })}>{clock(row.at)}</a>
              </td>
              <td class="code">
                {row.method} {clipped(row.path)}
              </td>
              <td>{row.client}</td>
              <td>
                {row.limits
                  .map(({ rule, used, max, onTrial }) => `${rule}: ${used} of ${max}${onTrial ? ' (on trial)' : ''}`)
                  .join(', ')}
              </td>
              <td>
                <Badge name={row.outcome} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

/** Key of a ban; an address links to the facts about it. */
function Banned({ banned }: { banned: string }) {
  const [, kind, address] = /^(\S+) ([0-9a-f.:]*[.:][0-9a-f.:]*(?:\/\d+)?)$/i.exec(banned) ?? []
  if (address === undefined) return <>{banned}</>
  return (
    <>
      {kind} <a href={linkTo('inspect', { target: address })}>{address}</a>
    </>
  )
}
