import { existsSync } from 'node:fs'
import type { Run } from '../report/run.ts'
import { benchBrowser, CHROMIUM } from './browser.ts'
import { benchCalls } from './calls.ts'
import { benchFlood } from './flood.ts'
import { benchRequests } from './requests.ts'
import { benchSolvers } from './solvers.ts'

/** The challenge: its cost to the service, to a visitor, to a flood and to a farm. */
export async function benchChallenge(run: Run): Promise<void> {
  await benchCalls(run)
  const hasBrowser = existsSync(CHROMIUM)
  if (!hasBrowser) run.skip(`the page: there is no ${CHROMIUM}`)
  benchSolvers(run, hasBrowser ? await benchBrowser(run) : undefined)
  await benchFlood(run)
  await benchRequests(run)
}
