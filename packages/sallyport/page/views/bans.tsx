import { useState } from 'preact/hooks'
import { Failure, type Got, maySteer, post } from '../api.ts'
import { Outcome, Shown, toFailure, useLoad } from '../parts/load.tsx'
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
  return (
    <Shown loaded={loaded}>
      {({ bans, limited, strikes }) => (
        <div class="grid">
          <Card
            title="Bans in force"
            wide
            aside={bans.length > 0 && !maySteer() && 'Sign in with the right to steer to lift one.'}
          >
            <Outcome of={failure} />
            <Table
              label="Bans"
              rows={bans}
              name={({ id }) => id}
              empty={
                <>
                  Nobody is banned.{' '}
                  {strikes === null && (
                    <>
                      The policy has no <code>strikes</code>: <a href={linkTo('policy')}>add them</a> to ban who is
                      refused again and again.
                    </>
                  )}
                </>
              }
              columns={[
                ['Client', ({ key }) => <Banned banned={key} />, 'code'],
                ['For', (ban) => clipped(ban.strikes)],
                ['Since', ({ since }) => <Ago at={since} />],
                ['Ends in', ({ until }) => age((until - Date.now()) / 1_000)],
                maySteer() && [
                  'Actions',
                  ({ id }) => (
                    <button type="button" class="plain" onClick={() => void lift(id)} aria-label={`Lift the ban ${id}`}>
                      Lift
                    </button>
                  ),
                ],
              ]}
            />
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
      <Table
        label="Requests beyond a limit"
        rows={limited}
        name={({ id }) => id}
        empty={
          <>
            Nobody was beyond a limit. A rule of the <a href={linkTo('policy')}>policy</a> sets one by{' '}
            <code>limit</code>.
          </>
        }
        columns={[
          ['At', ({ id, at }) => <a href={linkTo('request', { id })}>{<Ago at={at} />}</a>],
          ['Request', ({ method, path }) => `${method} ${clipped(path)}`, 'code'],
          ['From', ({ client }) => client],
          ['Limit', ({ limits }) => limits.map(limitText).join(', ')],
          ['Decided', ({ outcome }) => <Badge name={outcome} />],
        ]}
      />
    </Card>
  )
}

function limitText({ rule, used, max, onTrial }: Got<'bans'>['limited'][number]['limits'][number]): string {
  return `${rule}: ${used} of ${max}${onTrial ? ' (on trial)' : ''}`
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
