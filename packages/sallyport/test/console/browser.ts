import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { READER } from './visits.ts'

/** Debian's; no other browser is downloaded. */
export const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

/** Why the tests with a browser do not run here. */
export const NO_BROWSER = NO_NEIGHBOURS || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage']

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS })

/** Starts the browser, which ends with the test; after it the scene that it shows is closed. */
export async function openBrowser(t: Test, scene?: { close(): Promise<void> }): Promise<Browser> {
  const browser = await launchBrowser()
  t.teardown(async () => {
    await browser.close()
    await scene?.close()
  })
  return browser
}

export interface Watched {
  readonly page: Page
  /** Complaints of the browser: scripts, styles and what the policy of the page refused. */
  readonly complaints: readonly string[]
  /** Requests to other places than the console. */
  readonly outside: readonly string[]
}

/** A page that is watched for what must not happen, of a reader; its context, with its cookies, ends with the test. */
export async function openPage(
  t: Test,
  browser: Browser,
  url: string,
  {
    isSignedIn = true,
    ...options
  }: Parameters<Browser['newContext']>[0] & { readonly isSignedIn?: boolean | undefined } = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  t.teardown(() => context.close())
  if (isSignedIn) await context.addCookies([{ name: 'sallyport-console', value: await openSession(url), url }])
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  const outside: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    // A failed answer that a test asks for is shown by the page; the browser says it too.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      complaints.push(
        `${message.location().url}:${message.location().lineNumber}:${message.location().columnNumber} ${text}`,
      )
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) outside.push(request.url())
  })
  return { page, complaints, outside }
}

/** Faults that axe finds on the page: rule and place. */
export async function axeFinds(page: Page): Promise<readonly string[]> {
  // Through the debugger, because the policy of the page lets no script in.
  const found = await page.evaluate(
    `${AXE}; axe.run(document, { preload: false, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
  )
  return found as readonly string[]
}

async function openSession(url: string): Promise<string> {
  const { headers } = await fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${READER}` },
    body: '{}',
  })
  return /sallyport-console=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? ''
}
