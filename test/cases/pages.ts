import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { openRelay } from '../relay.ts'
import type { CaseFile, Judge } from './case.ts'

/** A script that the page beside it registers. */
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
    const gate = await product.gate({ trustProxy: ['loopback'] }, siteOf(file), { proxyProtocol: 'v1' })
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

/** Answers with the files beside the page, and with a page where there is none. */
function siteOf({ path }: CaseFile): (head: string) => string {
  return (head) => {
    const name = /^GET \/([\w.-]*)/.exec(head)?.[1] ?? ''
    const file = join(dirname(path), name)
    const body = name !== '' && existsSync(file) ? readFileSync(file, 'utf8') : '<!doctype html><title>second</title>'
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/html'
    return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
}
