import { ACCOUNT_ROWS } from './accounts.ts'
import { BAN_ROWS } from './bans.ts'
import { CRAWLER_ROWS } from './crawlers.ts'
import { dataRows } from './data.ts'
import { healthRows } from './health.ts'
import { INSPECT_ROWS } from './inspect.ts'
import { LEDGER_ROWS } from './ledger.ts'
import { liveRows } from './live.ts'
import { POLICY_ROWS } from './policy.ts'
import type { Row } from './route.ts'
import { SESSION_ROWS } from './session.ts'

/** All that the console's API answers. */
export function consoleRows(): readonly Row[] {
  return [
    ...SESSION_ROWS,
    ...liveRows(),
    ...INSPECT_ROWS,
    ...POLICY_ROWS,
    ...CRAWLER_ROWS,
    ...LEDGER_ROWS,
    ...dataRows(),
    ...ACCOUNT_ROWS,
    ...BAN_ROWS,
    ...healthRows(),
  ]
}
