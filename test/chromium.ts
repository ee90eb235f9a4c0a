import { existsSync } from 'node:fs'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { type Browser, chromium } from 'playwright-core'

/** Debian's; no other browser is downloaded. */
const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

/** Why nothing is asked with Chromium; `false` where it is there. */
export const NO_CHROMIUM: string | false = NO_NEIGHBOURS || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`)

/** Starts it; names that are not of this machine are not even asked for. */
export function openChromium(): Promise<Browser> {
  const resolver = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage', resolver] })
}

/** The user agent of a reader's Chromium of that version, in which nothing says that a program drives it. */
export function readersAgent(browser: Browser): string {
  const major = browser.version().split('.', 1)[0]
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`
}
