import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { type Browser, chromium } from 'playwright-core'

/** Debian's; no other browser is downloaded. */
export const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

/** Why nothing is asked with Chromium; `false` where it is there. */
export const NO_CHROMIUM: string | false = NO_NEIGHBOURS || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`)

/** Starts it; names that are not of this machine are not even asked for. */
export function openChromium(...more: readonly string[]): Promise<Browser> {
  const resolver = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', resolver, ...more],
  })
}

/** The user agent of a reader's Chromium of that version, in which nothing says that a program drives it. */
export function readersAgent(browser: Browser): string {
  return writeAgent(browser.version())
}

/** The same where it is not running yet. */
export async function readReadersAgent(): Promise<string> {
  const { stdout } = await promisify(execFile)(CHROMIUM, ['--version'])
  return writeAgent(/\d+\.\S+/.exec(stdout)?.[0] ?? '')
}

function writeAgent(version: string): string {
  const major = version.split('.', 1)[0]
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`
}
