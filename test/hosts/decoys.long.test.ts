import { createServer } from 'node:http'
import type { ConfigInput } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import { inspection } from '@sallyport/express'
import express from 'express'
import t from 'tap'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { awaitBans, everyGate } from './every-host.ts'
import { startOrigin, startProxy } from './proxy.ts'
import { readStatus } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Decoys and probes in every host: the site answers them as anything else, and who asked is banned. */
const CONFIG = {
  policy: {
    preset: 'observe',
    limits: ['scanner-guard'],
    strikes: { count: 1, window: '10m', on: ['decoy'], for: '1h' },
  },
  decoys: { paths: ['/trap', '/staff/rota'] },
} satisfies ConfigInput

const SCAN = ['/.env', '/.git/config', '/wp-login.php', '/phpmyadmin/', '/cgi-bin/luci']

everyGate('a decoy and a scan are answered by the site, and end in a ban', CONFIG, async (t, at, sallyport) => {
  t.equal(await readStatus(at, '8.1.0.1', '/%54rap?a=1', [], { method: 'HEAD' }), 200)
  await awaitBans(sallyport, 1)
  t.equal(await readStatus(at, '8.1.0.1', '/'), 403)
  for (let time = 0; time < 2; time++) {
    for (const target of SCAN.slice(0, 4)) t.equal(await readStatus(at, '8.1.0.2', target), 200, target)
  }
  t.equal(await readStatus(at, '8.1.0.2', '/'), 200)
  t.equal(await readStatus(at, '8.1.0.2', SCAN[4] as string), 200)
  await awaitBans(sallyport, 2)
  t.equal(await readStatus(at, '8.1.0.2', '/'), 403)
  t.equal(await readStatus(at, '8.1.0.3', '/'), 200)
})

t.test('a mount below a path reads the whole path', async (t) => {
  const sallyport = await openWithoutData(t, { ...CONFIG, decoys: { paths: ['/admin/trap', '/b'] } })
  const app = express().use('/admin', inspection(sallyport))
  const at = { port: await listening(t, createServer(app)) }
  t.equal(await readStatus(at, '8.1.2.1', '/trap'), 404)
  t.equal(await readStatus(at, '8.1.2.1', '/admin/b'), 404)
  t.equal(await readStatus(at, '8.1.2.1', '/admin/'), 404)
  t.equal(await readStatus(at, '8.1.2.1', '/admin/trap'), 404, 'the 404 of the application')
  await awaitBans(sallyport, 1)
  t.equal(await readStatus(at, '8.1.2.1', '/admin/'), 403)
})

t.test('a server that asks before it forwards has the decoys of its visitors struck', async (t) => {
  const sallyport = await openWithoutData(t, CONFIG)
  const gate = await startProxy(t, sallyport, { forwardAuth: 'nginx' })
  const check = (uri: string) =>
    readStatus(gate, '8.1.3.1', '/.sallyport/check', ['X-Original-URI', uri, 'X-Original-Method', 'GET'])
  t.equal(await check('/trap'), 200)
  await awaitBans(sallyport, 1)
  t.equal(await check('/'), 403)
})

t.test('the proxy without an origin answers 404, and its robots.txt names the decoys', async (t) => {
  const sallyport = await openWithoutData(t, CONFIG)
  t.equal(await readStatus(await startProxy(t, sallyport), '8.1.4.1', '/trap'), 404)
  await awaitBans(sallyport, 1)
  const { url } = await startProxy(t, sallyport, { upstream: 'http://127.0.0.1:9', robots: { serve: true } })
  t.match(await (await fetch(`${url}/robots.txt`)).text(), /\nUser-agent: \*\nDisallow: \/trap\$\nDisallow: \/trap\?\n/)
})

t.test('no person meets the links, and a page that shows a decoy bans nobody', { skip: NO_CHROMIUM }, async (t) => {
  const sallyport = await openWithoutData(t, CONFIG)
  const app = express()
  app.use(inspection(sallyport))
  app.get('/', (_, res) => {
    const images = [...CONFIG.decoys.paths, ...SCAN].map((path) => `<img src="${path}" alt="">`)
    const prefetches = CONFIG.decoys.paths.map((path) => `<link rel="prefetch" href="${path}">`)
    const style = '<style>a{display:block!important;padding:9px}</style>'
    res.send(`<!doctype html><title>a</title>${style}${prefetches}<a href="#x">x</a>${sallyport.decoyLink()}${images}`)
  })
  const url = `${await startOrigin(t, app)}/`
  const browser = await openChromium()
  t.teardown(() => browser.close())
  const asked: string[] = []
  for (const client of ['8.6.0.1', '5.9.10.20']) {
    const context = await browser.newContext({
      userAgent: readersAgent(browser),
      extraHTTPHeaders: { 'X-Forwarded-For': client },
    })
    const page = await context.newPage()
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(url, { waitUntil: 'networkidle' })
    const links = page.locator('a[rel=nofollow]')
    t.equal(await links.count(), 2)
    for (const link of await links.all()) t.equal((await link.innerText()).trim(), '')
    const focused: (string | null)[] = []
    for (let press = 0; press < 4; press++) {
      await page.keyboard.press('Tab')
      focused.push(await page.evaluate('document.activeElement?.getAttribute("href") ?? null'))
    }
    t.notOk(
      focused.some((href) => href !== null && href !== '#x'),
      'no key leads there',
    )
    t.notMatch(await page.locator('body').ariaSnapshot(), /trap|rota/, 'and no screen reader')
    t.equal((await page.goto(url))?.status(), 200)
    await context.close()
  }
  for (const path of [...CONFIG.decoys.paths, ...SCAN]) t.ok(asked.includes(path), `${path} was asked for`)
  t.same(await sallyport.bans.list(), [])
})
