import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { openChromium, readersAgent } from '../chromium.ts'

/** Contexts of a Chromium that is taken for a reader's. */
export type Contexts = (options?: BrowserContextOptions) => Promise<BrowserContext>

export async function openReader(t: Test, ...more: readonly string[]): Promise<Contexts> {
  const browser = await openChromium(...more)
  t.teardown(() => browser.close())
  const userAgent = readersAgent(browser)
  return async (options) => {
    const context = await browser.newContext({ userAgent, locale: 'en-GB', ignoreHTTPSErrors: true, ...options })
    context.setDefaultTimeout(180_000)
    return context
  }
}

/** Opens a tab of such a Chromium, in which no script may fail. */
export async function openTab(t: Test, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await (await openReader(t))(options)).newPage()
  page.on('pageerror', ({ message }) => void t.fail(message))
  return page
}

/** Resolves when the wanted page is there; rejects with what the tab shows instead. */
export async function opens(page: Page): Promise<void> {
  const heading = page.getByRole('heading', { name: 'Another page' })
  await heading.waitFor().catch(async (cause: unknown) => {
    throw new Error(`${page.url()} shows: ${await page.locator('body').innerText()}`, { cause })
  })
}

/** Collects what a page complains of in its console, and what its scripts throw. */
export function listen(page: Page): readonly string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  return complaints
}

/** Has the scripts of a page find that its browser keeps no cookies. */
export async function disableCookies(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setDocumentCookieDisabled', { disabled: true })
}

/** Resolves when the page that asks says a text. */
export const says = (page: Page, text: string): Promise<void> => page.getByRole('status').getByText(text).waitFor()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** An expression that names what axe finds on a page. */
export const FINDS = `${AXE}; axe.run(document, { preload: false, resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))`
