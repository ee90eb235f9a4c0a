import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfigInput } from '@sallyport/engine'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { openRelay } from '../relay.ts'
import type { CaseFile, Judge } from './case.ts'

/** The page beside the script registers it, so the script alone is not judged. */
export const scriptOfAPage: Judge = {
  takes: ({ name }) => name.endsWith('.js'),
  judge: async () => [],
}

/** Resolves, in the page, once its worker has it. */
const CONTROLLED = `new Promise((done) => {
  const { serviceWorker } = navigator
  if (serviceWorker.controller) done()
  else serviceWorker.addEventListener('controllerchange', () => done())
})`

/**
 * A page with a service worker in a real browser: once the worker has the page, the reader follows its link, and each request of
 * the browser is a person's. Through a trusted proxy that names a client at home.
 */
export const workerPage: Judge = {
  takes: ({ name }) => name.endsWith('.html'),
  async judge(file, product) {
    const expected = 'navigations of the worker: human, allow'
    if (NO_CHROMIUM !== false) return [{ input: file.name, expected, came: NO_CHROMIUM, ok: undefined }]
    const gate = await product.gate({ trustProxy: ['loopback'] }, openCaseSite(file), { proxyProtocol: 'v1' })
    const front = await openRelay(gate.url, '73.162.10.20')
    const browser = await openChromium()
    try {
      const page = await (await browser.newContext({ userAgent: readersAgent(browser) })).newPage()
      await page.goto(`http://localhost:${front.port}/${file.name.split('/').at(-1)}`)
      await page.evaluate(CONTROLLED)
      const [heads, decisions] = [gate.origin.heads.length, gate.decisions.length]
      await Promise.all([page.waitForEvent('load'), page.click('a')])
      const passedOn = gate.origin.heads.slice(heads).filter((head) => /^sec-fetch-mode: navigate/im.test(head))
      const judged = gate.decisions
        .slice(decisions)
        .map(({ inspection, action }) => `${inspection.agent.class}, ${action}`)
      const came = `${passedOn.length} at the origin; ${[...new Set(judged)].join('; ')}`
      const ok = passedOn.length > 0 && judged.every((one) => one === 'human, allow')
      return [{ input: file.name, expected, came, ok }]
    } finally {
      await browser.close()
      await front.close()
    }
  },
}

const ASKED = { id: 'data', match: { path: ['/api/**'] }, action: 'challenge', challenge: { level: 2, pass: '1m' } }

/**
 * A page that its worker keeps, whose data is challenged: once the pass is gone, the page that the documentation names
 * (`/.sallyport/pass?to=…&for=…`) earns another one and returns.
 */
export const appShell: Judge = {
  takes: ({ name, text }) => name.endsWith('.html') && text.includes("fetch('/api/data')"),
  async judge(file, product) {
    const row = { input: file.name, expected: '403 without a pass, and 200 after the page of the challenge' }
    if (NO_CHROMIUM !== false) return [{ ...row, came: NO_CHROMIUM, ok: undefined }]
    const config = { trustProxy: ['loopback'], policy: { preset: 'observe', rules: [ASKED] } } as ConfigInput
    const gate = await product.gate(config, openCaseSite(file), { proxyProtocol: 'v1' })
    const front = await openRelay(gate.url, '73.162.10.20')
    const browser = await openChromium()
    try {
      const context = await browser.newContext({ userAgent: readersAgent(browser) })
      const page = await context.newPage()
      const open = async (path: string, title: RegExp) => {
        await page.goto(`http://localhost:${front.port}${path}`)
        await page.waitForURL('**/shell')
        await page.waitForFunction(`/${title.source}/.test(document.title)`)
        return page.title()
      }
      const titles: string[] = []
      await open('/shell', /^Shell \d/)
      await page.evaluate(CONTROLLED)
      for (const path of ['/.sallyport/pass?to=/shell&for=/api/data', '/shell'])
        titles.push(await open(path, /^Shell \d/))
      await context.clearCookies()
      titles.push(await open('/shell', /^Shell \d/))
      titles.push(await open('/.sallyport/pass?to=/shell&for=/api/data', /^Shell 200/))
      const came = titles.join(', ')
      return [{ ...row, came, ok: came === 'Shell 200, Shell 200, Shell 403, Shell 200' }]
    } finally {
      await browser.close()
      await front.close()
    }
  },
}

/** Answers with the files beside the page, and with a page where there is none. */
function openCaseSite({ path }: CaseFile): (head: string) => string {
  return (head) => {
    const name = /^GET \/([\w.-]*)/.exec(head)?.[1] ?? ''
    const beside = join(dirname(path), name)
    const file = existsSync(beside) ? beside : `${beside}.html`
    const body = name !== '' && existsSync(file) ? readFileSync(file, 'utf8') : '<!doctype html><title>second</title>'
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/html'
    return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
}
