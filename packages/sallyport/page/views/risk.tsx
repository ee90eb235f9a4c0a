import type { Got } from '../api.ts'
import { Shown, useLoad } from '../parts/load.tsx'
import { Ago, Card, Silent, Table } from '../parts/pieces.tsx'
import { linkTo } from '../route.ts'
import { count, word } from '../words.ts'

type Account = Got<'risk'>['accounts'][number]

/** Shows accounts whose logins and other events failed, or were stopped. */
export function Risk() {
  const loaded = useLoad('risk', {}, 5_000)
  return (
    <Shown loaded={loaded}>
      {({ accounts, silent }) => (
        <Card title="Accounts with failed or stopped events" wide aside="in recent events, by keyed hash">
          <Silent count={silent} />
          <Table
            label="Accounts at risk"
            rows={accounts}
            name={({ account }) => account}
            empty={
              <>
                No event failed or was blocked. Applications report events with <code>accounts.assess()</code>. To limit
                them, add <code>limits: [account-guard]</code> to the <a href={linkTo('policy')}>policy</a>.
              </>
            }
            columns={[
              ['Account', ({ account }) => account, 'code'],
              ['Events', ({ events }) => events.map(word).join(', ')],
              ['What happened', describeEvents],
              ['Reasons', Reasons],
              ['Last', ({ at }) => <Ago at={at} />],
            ]}
          />
        </Card>
      )}
    </Shown>
  )
}

function describeEvents({ failures, challenged, refused, would, addresses }: Account): string {
  const counts = [
    [failures, 'failed'],
    [challenged, 'challenged'],
    [refused, 'refused'],
    [would, 'would be blocked'],
  ] as const
  const parts = counts.flatMap(([number, what]) => (number === 0 ? [] : [`${count(number)} ${what}`]))
  return [...parts, `from ${count(addresses)} ${addresses === 1 ? 'address' : 'addresses'}`].join(', ')
}

function Reasons({ reasons }: Account) {
  return (
    <ul class="plain-list">
      {reasons.map(({ id, text, source, date }) => (
        <li key={id}>
          {text} {source !== undefined && <span class="quiet">{[source, date].filter(Boolean).join(' of ')}</span>}
        </li>
      ))}
    </ul>
  )
}
