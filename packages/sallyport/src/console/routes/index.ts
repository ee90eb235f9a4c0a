import { ACCOUNT_ROWS } from './accounts.ts'
import { AUDIT_ROWS } from './audit.ts'
import { BAN_ROWS } from './bans.ts'
import { CRAWLER_ROWS } from './crawlers.ts'
import { dataRows } from './data.ts'
import { healthRows } from './health.ts'
import { INSPECT_ROWS } from './inspect.ts'
import { LEDGER_ROWS } from './ledger.ts'
import { LIST_ROWS } from './lists.ts'
import { liveRows } from './live.ts'
import { POLICY_ROWS } from './policy.ts'
import { keepReports, reportRows } from './report.ts'
import { RISK_ROWS } from './risk.ts'
import { SESSION_ROWS } from './session.ts'

export type { StreamEvent } from './stream.ts'

/** Lists every route of the console's API. */
export function consoleRows(): readonly ConsoleRow[] {
  const readReports = keepReports()
  return [
    ...SESSION_ROWS,
    ...liveRows(readReports),
    ...reportRows(readReports),
    ...INSPECT_ROWS,
    ...POLICY_ROWS,
    ...CRAWLER_ROWS,
    ...LEDGER_ROWS,
    ...dataRows(),
    ...ACCOUNT_ROWS,
    ...RISK_ROWS,
    ...BAN_ROWS,
    ...LIST_ROWS,
    ...AUDIT_ROWS,
    ...healthRows(),
  ]
}

/** A row with the types of what it takes and answers, which the page uses. */
export type ConsoleRow =
  | (typeof SESSION_ROWS)[number]
  | ReturnType<typeof liveRows>[number]
  | ReturnType<typeof reportRows>[number]
  | (typeof INSPECT_ROWS)[number]
  | (typeof POLICY_ROWS)[number]
  | (typeof CRAWLER_ROWS)[number]
  | (typeof LEDGER_ROWS)[number]
  | ReturnType<typeof dataRows>[number]
  | (typeof ACCOUNT_ROWS)[number]
  | (typeof RISK_ROWS)[number]
  | (typeof BAN_ROWS)[number]
  | (typeof LIST_ROWS)[number]
  | (typeof AUDIT_ROWS)[number]
  | ReturnType<typeof healthRows>[number]
