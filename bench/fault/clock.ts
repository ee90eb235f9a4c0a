import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ALLOWANCES, billingWindow, openAccountsAt, openLedgerTools } from '@sallyport/engine'
import type { Measured } from '../promises.ts'
import { openGate } from './gate.ts'
import { scratch } from './scratch.ts'

const LIBRARY = librarySearched()
export const NO_FAKETIME: string | false = LIBRARY === undefined ? 'libfaketime is not installed (faketime)' : false

/** There, and back; a year and an hour in both directions. */
const JUMPS = ['+1h', '+0', '-1h', '+0', '+1y', '+0', '-1y', '+0']
const SETTLE_MS = 1_500
const YEAR_MS = 365 * 86_400_000
/** Calls that are left of the month's when it begins. */
const LEFT = 150
const CALLS = 400
const MAX_WAIT_S = 3_600

/** The wall clock of a running proxy jumps, by libfaketime below the process; the monotonic one goes on, as it does in such cases. */
export function faultClock(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const file = join(folder, 'now')
    writeFileSync(file, '+0')
    const under = () => [
      'env',
      `LD_PRELOAD=${LIBRARY}`,
      `FAKETIME_TIMESTAMP_FILE=${file}`,
      'FAKETIME_NO_CACHE=1',
      'FAKETIME_DONT_FAKE_MONOTONIC=1',
    ]
    const gate = await openGate(folder, cleanup, { under, plan: ['--plan', 'free', '--signup', '2026-01-02'] })
    const withAccounts = async <T>(work: (accounts: Awaited<ReturnType<typeof openAccountsAt>>) => Promise<T>) => {
      const accounts = await openAccountsAt(gate.store)
      try {
        return await work(accounts)
      } finally {
        await accounts.close()
      }
    }
    const window = billingWindow(gate.account.signupDate, Date.now()).id
    await withAccounts((accounts) => accounts.spend(gate.account.id, window, ALLOWANCES.free, ALLOWANCES.free - LEFT))
    const broken: string[] = []
    const requireWait = (headers: Headers, jump: string): void => {
      const wait = Number(headers.get('retry-after') ?? 0)
      if (!(wait >= 0 && wait <= 32 * 24 * MAX_WAIT_S)) broken.push(`${jump}: Retry-After is ${wait}`)
    }
    let passed = 0
    for (let call = 0; call < CALLS; call++) if ((await gate.lookUp()).status === 200) passed++
    if (passed !== LEFT) broken.push(`${passed} calls of ${LEFT} pass`)
    let reopened = 0
    let later = 0
    let wasLater = false
    let attested = 0
    for (const jump of JUMPS) {
      writeFileSync(file, jump)
      wasLater ||= jump === '+1y'
      await delay(SETTLE_MS)
      for (let call = 0; call < 20; call++) {
        const { status, headers } = await gate.lookUp()
        requireWait(headers, jump)
        // A month that came later has an allowance of its own, once, whatever the clock says after that.
        if (status === 200 && !wasLater) reopened++
        if (status === 200) later++
        if (status !== 200 && status !== 429) broken.push(`${jump}: ${status}`)
      }
      for (let call = 0; call < 40; call++) requireWait((await gate.visit('/v1/myip')).headers, jump)
      if ((await gate.visit()).status !== 200) broken.push(`${jump}: a visitor is not served`)
      if ((await gate.attest()).status === 200) attested++
    }
    later += attested
    await delay(SETTLE_MS)
    const counted = await withAccounts((accounts) =>
      accounts.usage(gate.account.id, billingWindow(gate.account.signupDate, Date.now() + YEAR_MS).id),
    )
    if (counted !== later) broken.push(`${later} calls passed in a later month and ${counted} are counted`)
    if (reopened > 0) broken.push(`the quota opens again: ${reopened} calls`)
    const ledger = await openLedgerTools({ dataDir: gate.dataDir })
    const { fault, records } = await ledger.verify()
    await ledger.close()
    if (fault !== undefined) broken.push(`the chain is broken: ${JSON.stringify(fault)}`)
    return {
      measured: `${JUMPS.length} jumps: ${passed} calls that were left of a month and ${reopened} more, ${later} of a later month and ${counted} counted, ${attested} records attested, ${records} in one chain`,
      broken: [...new Set(broken)],
    }
  })
}

function librarySearched(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => `/usr/lib/${name}/faketime`) : []
  return folders.map((folder) => join(folder, 'libfaketimeMT.so.1')).find((path) => existsSync(path))
}
