import { type Got, maySteer, post } from '../api.ts'
import { Plain } from '../parts/buttons.tsx'
import { Outcome, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
import { linkTo } from '../route.ts'
import { age, clipped } from '../words.ts'

/** Shows clients that are banned, or that exceeded a limit. */
export function Bans() {
  const loaded = useLoad('bans', {}, 5_000)
  const [lifted, act] = useAction<unknown>()
  const lift = (id: string) => void act(post('bans/lift', { id })).then(loaded.reload)
  return (
    <Shown loaded={loaded}>
      {({ bans, limited, strikes }) => (
        <div class="grid">
          <Card
            title="Active bans"
            wide
            aside={bans.length > 0 && !maySteer() && 'To lift a ban, sign in with a steer or administrator token.'}
          >
            <Outcome of={lifted} />
            <Table
              label="Bans"
              rows={bans}
              name={({ id }) => id}
              empty={
                <>
                  There are no active bans.{' '}
                  {strikes === null && (
                    <>
                      To ban repeat offenders, <a href={linkTo('policy')}>add</a> <code>strikes</code> to the policy.
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
                    <Plain onClick={() => lift(id)} aria-label={`Lift the ban ${id}`}>
                      Lift
                    </Plain>
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
    <Card title="Over a limit" wide aside="in recent requests">
      <Table
        label="Requests over a limit"
        rows={limited}
        name={({ id }) => id}
        empty={
          <>
            No request exceeded a limit. To add one, set <code>limit</code> in a rule of the{' '}
            <a href={linkTo('policy')}>policy</a>.
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
  return `${rule}: ${used} of ${max}${onTrial ? ' (dry run)' : ''}`
}

/** Shows the key of a ban; an address links to the facts about it. */
function Banned({ banned }: { banned: string }) {
  const [, kind, address] = /^(\S+) ([0-9a-f.:]*[.:][0-9a-f.:]*(?:\/\d+)?)$/i.exec(banned) ?? []
  if (address === undefined) return <>{banned}</>
  return (
    <>
      {kind} <a href={linkTo('inspect', { target: address })}>{address}</a>
    </>
  )
}
