import { existsSync } from 'node:fs'
import type { Run } from '../report/run.ts'
import { benchBrowser, CHROMIUM } from './browser.ts'
import { benchCalls } from './calls.ts'

/** Measures what the challenge costs the service and a visitor. */
export async function benchChallenge(run: Run): Promise<void> {
  await benchCalls(run)
  if (existsSync(CHROMIUM)) await benchBrowser(run)
  else run.skip(`the page: there is no ${CHROMIUM}`)
}
