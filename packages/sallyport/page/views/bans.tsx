import { useState } from 'preact/hooks'
import { Failure, type Got, post, session } from '../api.ts'
import { Empty, Failed, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
import { linkTo } from '../route.ts'
import { age, clipped } from '../words.ts'

/** Clients that are banned, or were beyond a limit. */
export function Bans() {
  const loaded = useLoad('bans', {}, 5_000)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const lift = async (id: string): Promise<void> => {
    const done = await post('bans/lift', { id }).catch(toFailure)
    setFailure(done instanceof Failure ? done : undefined)
    loaded.reload()
  }
  const maySteer = session.value?.role === 'steer' || session.value?.role === 'admin'
  return (
    <Shown loaded={loaded}>
      {({ bans, limited, strikes }) => (
        <div class="grid">
          <Card
            title="Bans in force"
            wide
            aside={bans.length > 0 && !maySteer && 'Sign in with the right to steer to lift one.'}
          >
            {failure && <Failed failure={failure} />}
            {bans.length === 0 ? (
              <Empty>
                Nobody is banned.{' '}
                {strikes === null && (
                  <>
                    The policy has no <code>strikes</code>: <a href={linkTo('policy')}>add them</a> to ban who is
                    refused again and again.
                  </>
                )}
              </Empty>
            ) : (
              <Table label="Bans" head={['Client', 'For', 'Since', 'Ends in', ...(maySteer ? ['Actions'] : [])]}>
                {bans.map((ban) => (
                  <tr key={ban.id}>
                    <td class="code">
                      <Banned banned={ban.key} />
                    </td>
                    <td>{clipped(ban.strikes)}</td>
                    <td>
                      <Ago at={ban.since} />
                    </td>
                    <td>{age((ban.until - Date.now()) / 1_000)}</td>
                    {maySteer && (
                      <td>
                        <button
                          type="button"
                          class="plain"
                          onClick={() => void lift(ban.id)}
                          aria-label={`Lift the ban ${ban.id}`}
                        >
                          Lift
                        </button>
                      </td>
                    )}
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
        <Empty>
          Nobody was beyond a limit. A rule of the <a href={linkTo('policy')}>policy</a> sets one by <code>limit</code>.
        </Empty>
      ) : (
        <Table label="Requests beyond a limit" head={['At', 'Request', 'From', 'Limit', 'Decided']}>
          {limited.map((row) => (
            <tr key={row.id}>
              <td>
                <a href={linkTo('request', { id: row.id })}>{<Ago at={row.at} />}</a>
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
