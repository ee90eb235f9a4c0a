import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import { chromium } from 'playwright-core'
import { open } from 'sallyport'
import t, { type Test } from 'tap'
import { CHROMIUM, CHROMIUM_ARGUMENTS, NO_BROWSER, openBrowser } from '../console/browser.ts'
import { type AskingSite, openAskingSite } from './asking-site.ts'

const FIREFOX = process.env['SALLYPORT_FIREFOX'] ?? '/usr/bin/firefox-esr'
const NO_FIREFOX = NO_NEIGHBOURS || (!existsSync(FIREFOX) && `there is no ${FIREFOX}`)

const XVFB = '/usr/bin/xvfb-run'
const WEBKIT = process.env['SALLYPORT_WEBKIT'] ?? '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
const NO_WEBKIT = NO_NEIGHBOURS || ([XVFB, WEBKIT].some((file) => !existsSync(file)) && `there is no ${WEBKIT}`)

/** Some of what the pages ask for: enough that none of their steps was left out. */
const STEPS = ['link', 'frame', 'object.svg', 'form', 'embed.svg', 'fetch', 'film.webm', 'socket', 'file']
const ALL = ['plain', 'passed'].flatMap((where) => STEPS.map((step) => `/${where}/${step}`))

/** Nothing that was asked for may be suspected as if it had come over https, where a browser sends these very fields. */
async function judgeAll(t: Test, { asked }: AskingSite): Promise<void> {
  const none = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']
  const sources = Object.fromEntries(none.map((id) => [id, { enabled: false }]))
  const sallyport = await open({ dataDir: join(t.testdir(), 'data'), data: { refresh: false, sources } })
  const suspected = asked.flatMap(({ fields, ...request }) => {
    // Without a window Chromium says so in its user agent and its brands.
    const shown = fields.map((text) => text.replaceAll('HeadlessChrome', 'Chrome'))
    const { agent } = sallyport.inspect({ ...request, peer: '8.8.8.8', scheme: 'https', fields: shown })
    const isPerson = agent.class === 'human' && agent.basis === 'none'
    return isPerson ? [] : [{ target: request.target, basis: agent.basis, reasons: agent.reasons, shown }]
  })
  await sallyport.close()
  t.same(suspected, [])
}

t.test('no request of Chromium is suspected', { skip: NO_BROWSER }, async (t) => {
  const site = await openAskingSite(t)
  const browser = await openBrowser(t)
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  await page.goto(`${site.url}/plain/start`)
  await site.seen(...ALL, '/done')
  await judgeAll(t, site)
  const passed = site.asked.find(({ target }) => target === '/passed/link')
  t.equal(passed?.fields[(passed?.fields.indexOf('Sec-Fetch-Dest') ?? 0) + 1], 'empty', 'it did go through the worker')
})

t.test('nor what an extension of Chromium asks for', { skip: NO_BROWSER }, async (t) => {
  const site = await openAskingSite(t)
  const worker = `fetch('${site.url}/extension/fetch').catch(() => undefined)
fetch('${site.url}/extension/loose', { mode: 'no-cors' }).catch(() => undefined)
chrome.downloads.download({ url: '${site.url}/extension/download' })
new WebSocket('${site.url.replace('http', 'ws')}/extension/socket')`
  const manifest = {
    manifest_version: 3,
    name: 'asking',
    version: '1',
    permissions: ['downloads'],
    host_permissions: ['http://127.0.0.1/*'],
    background: { service_worker: 'worker.js' },
  }
  const folder = t.testdir({ extension: { 'manifest.json': JSON.stringify(manifest), 'worker.js': worker } })
  const extension = join(folder, 'extension')
  // Processes of Chromium write there for a moment after its end.
  const profile = mkdtempSync(join(tmpdir(), 'sallyport-chromium-'))
  t.teardown(() => rmSync(profile, { recursive: true, maxRetries: 20, retryDelay: 100 }))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [...CHROMIUM_ARGUMENTS, `--load-extension=${extension}`, `--disable-extensions-except=${extension}`],
  })
  t.teardown(() => context.close())
  await site.seen(...['fetch', 'loose', 'download', 'socket'].map((name) => `/extension/${name}`))
  await judgeAll(t, site)
})

t.test('nor what Firefox asks for', { skip: NO_FIREFOX }, async (t) => {
  const site = await openAskingSite(t)
  // Its processes end one after the other, and write until then.
  const profile = mkdtempSync(join(tmpdir(), 'sallyport-firefox-'))
  t.teardown(() => rmSync(profile, { recursive: true, maxRetries: 20, retryDelay: 100 }))
  const off = ['browser.shell.checkDefaultBrowser', 'datareporting.policy.dataSubmissionEnabled', 'app.update.enabled']
  writeFileSync(join(profile, 'user.js'), off.map((name) => `user_pref("${name}", false);`).join('\n'))
  run(t, FIREFOX, ['--headless', '--no-remote', '--profile', profile, `${site.url}/plain/start`])
  await site.seen(...ALL, '/done')
  await judgeAll(t, site)
})

t.test('nor what WebKit asks for, in a window', { skip: NO_WEBKIT }, async (t) => {
  const site = await openAskingSite(t)
  run(t, XVFB, ['-a', WEBKIT, '--private', `${site.url}/plain/start`])
  await site.seen(...ALL, '/done')
  await judgeAll(t, site)
})

/** Runs a program, and all that it starts, until the test has ended. */
function run(t: Test, program: string, given: readonly string[]): void {
  const child = spawn(program, given, { stdio: 'ignore', detached: true })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGKILL')
    await exited
  })
}
