import { useState } from 'preact/hooks'
import { type Asked, type Got, isAdmin, type Path, post } from '../api.ts'
import { Field, listOptions } from '../parts/ask.tsx'
import { Confirm, Plain } from '../parts/buttons.tsx'
import { Outcome, readForm, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Empty, Facts, Table } from '../parts/pieces.tsx'
import { count, percent } from '../words.ts'

type Account = Got<'accounts'>['accounts'][number]

const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Shows the accounts of the API, their keys, and their use. */
export function Accounts() {
  const loaded = useLoad('accounts')
  const [issued, setIssued] = useState<string | undefined>(undefined)
  const [outcome, run] = useAction<object>()
  const act: Act = async (path, body) => {
    const done = await run(post(path, body))
    if (done === undefined) return
    // Only the answer that creates a key contains it.
    if ('key' in done) setIssued(String(done.key))
    loaded.reload()
  }
  return (
    <Shown loaded={loaded}>
      {({ plans, accounts }) => (
        <>
          <Outcome of={outcome} />
          <div class="grid" aria-live="polite">
            {issued && (
              <Card title="The new key" aside={<Plain onClick={() => setIssued(undefined)}>Dismiss</Plain>}>
                <p>
                  <code class="secret">{issued}</code>
                </p>
                <p class="quiet">The key is shown only here. The store keeps only its hash.</p>
              </Card>
            )}
          </div>
          <div class="grid">
            {isAdmin() && (
              <Card title="New account" wide>
                <form onSubmit={(event) => void act('accounts', readForm(event))}>
                  <Field label="Name" name="name" maxLength={200} />
                  <label>
                    Plan
                    <select name="plan">{listOptions(plans.map((name) => [name, name]))}</select>
                  </label>
                  <button type="submit">Create</button>
                </form>
              </Card>
            )}
            {accounts.length === 0 && (
              <Card title="Accounts" wide>
                <Empty>
                  There are no accounts yet. {isAdmin() ? 'Create one above' : 'An administrator can create one here'},
                  or with <code>sallyport keys create --plan free</code>.
                </Empty>
              </Card>
            )}
            {accounts.map((account) => (
              <OneAccount key={account.id} account={account} plans={plans} act={act} />
            ))}
          </div>
        </>
      )}
    </Shown>
  )
}

type Act = <At extends Path<'POST'>>(path: At, body: Asked<'POST', At>) => Promise<void>

function OneAccount({ account, plans, act }: { account: Account; plans: readonly string[]; act: Act }) {
  const { id, name, plan, signupDate, used, allowance, resetDate, keys } = account
  const called = name || `Account without a name, ${id.slice(0, 8)}…`
  return (
    <Card title={called} wide aside={<Badge name="plan">{plan}</Badge>}>
      <Facts
        rows={[
          ['Id', <code key="i">{id}</code>],
          ['Since', signupDate],
          [
            'Used',
            allowance >= UNLIMITED
              ? `${count(used)}, unlimited`
              : `${count(used)} of ${count(allowance)} (${percent(used, allowance)}) until ${resetDate}`,
          ],
        ]}
      />
      {isAdmin() && (
        <div class="actions">
          <label>
            Plan{' '}
            <select
              value={plan}
              onChange={({ currentTarget }) => void act('accounts/plan', { account: id, plan: currentTarget.value })}
            >
              {listOptions(plans.map((name) => [name, name]))}
            </select>
          </label>
          <Plain onClick={() => void act('keys', { account: id })}>New key</Plain>
        </div>
      )}
      <Table
        label={`Keys of ${called}`}
        rows={keys}
        name={({ id }) => id}
        empty="This account has no keys."
        columns={[
          ['Key', ({ id }) => <code>{id}</code>],
          ['Created', ({ createdAt }) => <Ago at={createdAt} />],
          ['Last used', ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : <Ago at={lastUsedAt} />)],
          [
            'State',
            ({ revokedAt }) =>
              revokedAt === undefined ? <Badge name="ok">valid</Badge> : <Badge name="fail">revoked</Badge>,
          ],
          isAdmin() && ['Actions', ({ id, revokedAt }) => revokedAt === undefined && <KeyActions id={id} act={act} />],
        ]}
      />
    </Card>
  )
}

function KeyActions({ id, act }: { id: string; act: Act }) {
  return (
    <span class="actions">
      <Plain onClick={() => void act('keys/rotate', { id })}>Rotate</Plain>
      <Confirm question="Revoke the key? Calls with it fail immediately." onYes={() => act('keys/revoke', { id })}>
        Revoke
      </Confirm>
    </span>
  )
}
