import { ACCOUNT } from '@sallyport/accounts/testing'
import { openSqliteAccounts, withLock } from '../src/index.ts'

/** A process of its own, started by the tests: does one thing to a file and tells the parent. */
const [task, path = '', ...rest] = process.argv.slice(2)

function tell(message: unknown): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

if (task === 'spend') {
  const [limit, calls] = rest
  const accounts = await openSqliteAccounts(path)
  await accounts.createAccount(ACCOUNT)
  let allowed = 0
  for (let call = 0; call < Number(calls); call++) {
    if ((await accounts.spend(ACCOUNT.id, ACCOUNT.signupDate, Number(limit))).allowed) allowed++
  }
  accounts.close()
  await tell(allowed)
}

if (task === 'lock') {
  await tell('started')
  const onWait = () => void tell('waiting')
  await withLock(
    path,
    async () => {
      await tell('locked')
      await new Promise((resolve) => process.once('message', resolve))
      await tell('leaving')
    },
    { onWait },
  )
}

process.disconnect?.()
