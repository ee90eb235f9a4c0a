import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { until, visit } from '../cli/command.ts'
import { ADMIN, READER } from './visits.ts'

/** Debian's; no other browser is downloaded. */
export const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium'

export const NO_BROWSER = NO_NEIGHBOURS || (!existsSync(CHROMIUM) && `there is no ${CHROMIUM}`)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const CHROMIUM_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage']

export const PHONE = { width: 390, height: 844 }

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS })

interface Shown {
  readonly adminUrl: string
  close(): Promise<void>
}

/** Starts the browser, which ends with the test; after it the scene that it shows is closed. */
export async function openBrowser(t: Test, scene?: Pick<Shown, 'close'>): Promise<Browser> {
  const browser = await launchBrowser()
  t.teardown(async () => {
    await browser.close()
    await scene?.close()
  })
  return browser
}

type Options = Parameters<Browser['newContext']>[0] & { readonly isSignedIn?: boolean | undefined }

/** A page that is watched for what must not happen, of a reader; its context, with its cookies, ends with the test. */
export async function openPage(
  t: Test,
  browser: Browser,
  url: string,
  { isSignedIn = true, ...options }: Options = {},
) {
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
    const { url, lineNumber, columnNumber } = message.location()
    // A failed answer that a test asks for is shown by the page; the browser says it too.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      complaints.push(`${url}:${lineNumber}:${columnNumber} ${text}`)
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) outside.push(request.url())
  })
  return {
    page,
    /** Complaints of the browser: scripts, styles and what the policy of the page refused. */
    complaints,
    /** Requests to other places than the console. */
    outside,
  }
}

/** Opens the console of a scene, which is closed with the test. */
export async function openView(t: Test, scene: Shown, options: Options = {}) {
  const browser = await openBrowser(t, scene)
  const watched = await openPage(t, browser, scene.adminUrl, options)
  const { page } = watched
  return {
    ...watched,
    browser,
    go: (view: string) => page.goto(`${scene.adminUrl}/#/${view}`),
    /** Opens a view from nothing, and waits until nothing is loading. */
    async settle(view: string) {
      await page.goto('about:blank')
      await page.goto(`${scene.adminUrl}/#/${view}`)
      await page.locator('h1').waitFor()
      await until(async () => (await page.locator('.loading').count()) === 0)
    },
    async signIn() {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByLabel('Token').fill(ADMIN)
      await page.locator('form').getByRole('button', { name: 'Sign in' }).click()
    },
  }
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

export const readWidth = (page: Page): Promise<unknown> => page.evaluate('document.documentElement.scrollWidth')

async function openSession(url: string): Promise<string> {
  const { headers } = await visit(`${url}/console/api/session`, { authorization: `Bearer ${READER}` }, '{}')
  return /sallyport-console=([^;]+)/.exec(String(headers['set-cookie']))?.[1] ?? ''
}
