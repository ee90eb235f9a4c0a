import { useState } from 'preact/hooks'
import { Failure, send, session } from '../api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Empty, Failed, failureOf, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Facts, Table } from '../parts/pieces.tsx'
import { count, moment, percent } from '../words.ts'

interface Account {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly signupDate: string
  readonly used: number
  readonly allowance: number
  readonly resetDate: string
  readonly keys: readonly {
    readonly id: string
    readonly createdAt: string
    readonly revokedAt?: string
    readonly lastUsedAt?: string
  }[]
}

/** A key is shown when it is made, and never again. */
interface Issued {
  readonly key: string
  readonly id: string
}

const UNLIMITED = Number.MAX_SAFE_INTEGER

/** Callers of the API: accounts, their keys, and their use. */
export function Accounts() {
  const loaded = useLoad<{ readonly plans: readonly string[]; readonly accounts: readonly Account[] }>('accounts')
  const [issued, setIssued] = useState<Issued | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const isAdmin = session.value?.role === 'admin'
  const act = async (path: string, body: Readonly<Record<string, string>>): Promise<void> => {
    const done = await send<Partial<Issued>>('POST', path, body).catch(failureOf)
    setFailure(done instanceof Failure ? done : undefined)
    if (!(done instanceof Failure)) {
      if (done.key !== undefined) setIssued({ key: done.key, id: done.id ?? '' })
      loaded.reload()
    }
  }
  return (
    <Shown loaded={loaded}>
      {({ plans, accounts }) => (
        <div class="grid">
          <div class="wide" aria-live="polite">
            {failure && <Failed failure={failure} />}
            {issued && (
              <Card
                title="The new key"
                aside={
                  <button type="button" class="plain" onClick={() => setIssued(undefined)}>
                    Put it away
                  </button>
                }
              >
                <p>
                  <code class="secret">{issued.key}</code>
                </p>
                <p class="quiet">It is shown here and nowhere again: only its hash is kept.</p>
              </Card>
            )}
          </div>
          {isAdmin && <NewAccount plans={plans} onMake={(body) => act('accounts', body)} />}
          {accounts.length === 0 && (
            <Card title="Accounts" wide>
              <Empty>There is no account yet.</Empty>
            </Card>
          )}
          {accounts.map((account) => (
            <OneAccount key={account.id} account={account} plans={plans} isAdmin={isAdmin} act={act} />
          ))}
        </div>
      )}
    </Shown>
  )
}

function NewAccount({
  plans,
  onMake,
}: {
  plans: readonly string[]
  onMake: (body: Readonly<Record<string, string>>) => Promise<void>
}) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    void onMake({ name: String(form.get('name') ?? ''), plan: String(form.get('plan') ?? 'free') })
  }
  return (
    <Card title="New account" wide>
      <form onSubmit={submit}>
        <label>
          Name
          <input name="name" maxLength={200} autocomplete="off" />
        </label>
        <label>
          Plan
          <select name="plan">
            {plans.map((plan) => (
              <option key={plan} value={plan}>
                {plan}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Make it</button>
      </form>
    </Card>
  )
}

type Act = (path: string, body: Readonly<Record<string, string>>) => Promise<void>

interface OneAccountProps {
  account: Account
  plans: readonly string[]
  isAdmin: boolean
  act: Act
}

function OneAccount({ account, plans, isAdmin, act }: OneAccountProps) {
  const { id, name, plan, signupDate, used, allowance, resetDate, keys } = account
  return (
    <Card title={name || id} wide aside={<Badge name="plan">{plan}</Badge>}>
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
      {isAdmin && (
        <div class="actions">
          <label>
            Plan{' '}
            <select
              value={plan}
              onChange={({ currentTarget }) => void act('accounts/plan', { account: id, plan: currentTarget.value })}
            >
              {plans.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="plain" onClick={() => void act('keys', { account: id })}>
            New key
          </button>
        </div>
      )}
      {keys.length === 0 ? (
        <Empty>It has no keys.</Empty>
      ) : (
        <Keys of={name || id} keys={keys} isAdmin={isAdmin} act={act} />
      )}
    </Card>
  )
}

interface KeysProps {
  /** The owner of the keys. */
  of: string
  keys: Account['keys']
  isAdmin: boolean
  act: Act
}

function Keys({ of, keys, isAdmin, act }: KeysProps) {
  return (
    <Table label={`Keys of ${of}`} head={['Key', 'Made', 'Last used', 'State', 'Actions']}>
      {keys.map((key) => (
        <tr key={key.id}>
          <td>
            <code>{key.id}</code>
          </td>
          <td>{moment(key.createdAt)}</td>
          <td>{key.lastUsedAt === undefined ? 'never' : moment(key.lastUsedAt)}</td>
          <td>{key.revokedAt === undefined ? <Badge name="ok">valid</Badge> : <Badge name="fail">revoked</Badge>}</td>
          <td>
            {isAdmin && key.revokedAt === undefined && (
              <span class="actions">
                <button type="button" class="plain" onClick={() => void act('keys/rotate', { id: key.id })}>
                  Rotate
                </button>
                <Confirm
                  question="Calls with this key are refused at once. Revoke it?"
                  onYes={() => act('keys/revoke', { id: key.id })}
                >
                  Revoke
                </Confirm>
              </span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
