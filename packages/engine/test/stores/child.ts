import { openSqliteAccounts } from '../../src/stores/accounts/sqlite-accounts.ts'
import { openCounts, withLock } from '../../src/stores/index.ts'
import { ACCOUNT } from '../accounts/contract.ts'

/** A process of its own, started by the tests: does one thing to a file and reports to the parent. */
const [task, path = '', ...rest] = process.argv.slice(2)

function report(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

if (task === 'spend') {
  const [limit, calls] = rest
  const accounts = await openSqliteAccounts(path)
  await accounts.createAccount(ACCOUNT)
  let allowed = 0
  for (let call = 0; call < Number(calls); call++) {
    allowed += (await accounts.spend(ACCOUNT.id, ACCOUNT.signupDate, Number(limit))).granted
  }
  accounts.close()
  await report(allowed)
}

if (task === 'count') {
  const [max = 0, calls] = rest.map(Number)
  const counts = await openCounts(path)
  const limit = { kind: 'fixed', max, windowMs: 600_000, refill: max } as const
  const takes = Array.from({ length: calls ?? 0 }, () =>
    counts.take([{ key: 'shared', cost: 1, max, limit, binding: true }], ''),
  )
  const taken = await Promise.all(takes)
  await report(taken.filter(({ states }) => states[0]?.allowed).length)
  await counts.close()
}

if (task === 'lock') {
  await report('started')
  const onWait = () => void report('waiting')
  await withLock(
    path,
    async () => {
      await report('locked')
      await new Promise((resolve) => process.once('message', resolve))
      await report('leaving')
    },
    { onWait },
  )
}

process.disconnect?.()
