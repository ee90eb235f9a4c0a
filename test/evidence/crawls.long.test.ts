import { createServer } from 'node:http'
import type { PaymentProvider } from '@sallyport/core'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { inspection } from '@sallyport/express'
import express from 'express'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { type RunningHost, running } from '../hosts/host.ts'
import { startProxyBefore } from '../hosts/proxy.ts'
import { makeFolder, writeIn } from '../started.ts'
import { openWithFile, runCommand } from './commands.ts'

/** Is in the ranges that are shipped. */
const GOOGLE = '66.249.66.1'
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const OFFER = { price: 'USD 0.5', licence: 'https://shop.example/paid.xml' }
const ROBOTS =
  'User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n\nLicense: https://shop.example/licence.xml\n'

/** Takes any promise of a price but one. */
const PAYMENTS: PaymentProvider = {
  accept: async ({ text }) =>
    text === 'USD 5'
      ? { accepted: false, reason: 'closed' }
      : { accepted: true, receipt: `pay_${text}`.replace(' ', '_') },
}

async function openService(t: Test, more: ConfigInput = {}) {
  const config: ConfigInput = {
    trustProxy: ['loopback'],
    crawls: 'pattern',
    robots: { file: writeIn(makeFolder(t), 'robots.txt', ROBOTS) },
    policy: {
      rules: [
        { id: 'private', match: { path: ['/private/**'], crawler: ['gptbot'] }, action: 'block' },
        { id: 'paid', match: { path: ['/library/**'] }, action: 'offer', offer: OFFER },
      ],
    },
  }
  return openWithFile(t, { ...config, ...more }, { payments: PAYMENTS })
}

/** Visits of two crawlers: one from a range that its operator publishes, one that only claims. */
async function visit({ port, close }: RunningHost): Promise<void> {
  const get = async (path: string, from: string, agent: string, price?: string) => {
    const fields = { 'user-agent': agent, 'x-forwarded-for': from, host: 'shop.example' }
    const headers = { ...fields, ...(price && { 'crawler-max-price': price }) }
    await (await request(`http://127.0.0.1:${port}${path}`, { headers })).body.dump()
  }
  await get('/', GOOGLE, GOOGLEBOT)
  for (const id of [1, 2, 3]) await get(`/articles/${id}`, GOOGLE, GOOGLEBOT)
  await get('/articles/4', '5.9.10.20', GPTBOT)
  await get('/library/1', GOOGLE, GOOGLEBOT)
  for (const price of ['USD 0.5', 'USD 0.7', 'USD 5', 'USD 0.1']) await get('/library/2', GOOGLE, GOOGLEBOT, price)
  await get('/private/5', '5.9.10.20', GPTBOT)
  await get('/articles/6', '73.162.10.20', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0')
  await close()
}

/** Starts a site in each place where Sallyport stands. */
const PLACES: Readonly<Record<string, (t: Test, sallyport: Sallyport) => Promise<RunningHost>>> = {
  express(_, sallyport) {
    const app = express().use(inspection(sallyport))
    return running(createServer(app.use((_, response) => void response.type('html').send('<p>a page'))))
  },
  proxy: (t, sallyport) =>
    startProxyBefore(t, sallyport, (_, response) => response.setHeader('content-type', 'text/html').end('<p>a page')),
}

for (const [place, start] of Object.entries(PLACES)) {
  t.test(`${place}: which pages an operator read against the preference of the site, proven offline`, async (t) => {
    const { sallyport, file, write } = await openService(t)
    await visit(await start(t, sallyport))
    const keys = write('keys.json', JSON.stringify(await sallyport.provenance.keys()))
    await sallyport.close()
    const run = (...args: readonly string[]) => runCommand(...args, '--config', file)
    const verify = (saved: string, ...more: readonly string[]) =>
      runCommand('evidence', 'verify', saved, '--keys', keys, ...more)
    /** Builds the file of an operator by the command and returns what the verifier finds in it. */
    const exportEvidence = (operator: string, ...more: readonly string[]) => {
      const made = run('report', '--ai', '--evidence', operator, '--from', '1h', '--to', '0s', ...more)
      if (made.status !== 0) throw new Error(made.err)
      const saved = write(`${operator}.json`, made.out)
      return { saved, text: made.out, found: JSON.parse(verify(saved, '--json').out) }
    }

    const { found: gptbot, text, saved } = exportEvidence('OpenAI')
    const licence = 'https://shop.example/licence.xml'
    const common = {
      requests: 1,
      proof: 'claim',
      preference: { host: 'shop.example', contentUsage: 'train-ai=n', licence },
    }
    t.match(gptbot, { ok: true, isProven: true, operator: 'OpenAI', addresses: [] })
    const byPath = (path: string) => gptbot.paths.find((one: { readonly path: string }) => one.path === path)
    t.equal(gptbot.paths.length, 2)
    const open = { robots: 'allowed', action: 'flag', crawler: 'GPTBot', purpose: 'training', pages: 1 }
    t.match(byPath('/articles/*'), { ...common, ...open })
    t.match(byPath('/private/*'), { ...common, robots: 'disallowed', action: 'block', enforced: true, pages: 0 })
    t.ok(gptbot.paths.every(({ bytes }: { bytes: number }) => bytes > 0))
    t.match(JSON.parse(text).documents, [{ text: ROBOTS }])
    t.notMatch(text, /5\.9\.10\.20|73\.162/)
    t.match(verify(saved), {
      status: 0,
      out: /^Proven: the service recorded that OpenAI requested:\npath +robots\.txt .*\n[\s\S]*^\/private\/\* +disallowed +train-ai=n +https:\/\/shop\.example\/licence\.xml +GPTBot/m,
    })
    const { found: google, text: disclosed } = exportEvidence('Google', '--addresses')
    t.match(google, { ok: true, addresses: [GOOGLE], axes: { disclosure: { outcome: 'pass' } } })
    const ranged = google.paths.find(({ proof }: { proof: string }) => proof === 'published range')
    t.match(ranged, { path: '/articles/*', robots: 'allowed' })
    const offers = google.paths.filter(({ price }: { price?: string }) => price !== undefined)
    t.match(offers, [
      { action: 'offer', requests: 3, pages: 0, receipts: undefined },
      { action: 'allow', requests: 2, pages: 2, ...OFFER, receipts: ['pay_USD_0.5', 'pay_USD_0.7'] },
    ])
    t.match(run('ledger', 'verify'), { status: 0, out: /^Good: / })
    t.match(run('report', '--ai').out, /^Priced requests\n[\s\S]*^paid +paid +2$/m)
    const known = JSON.parse(run('privacy', 'export', GOOGLE, '--json').out)
    t.match(known.places[0], { place: 'ledger', entries: [{ log: 'c/google', record: { type: 'crawl' } }] })
    t.match(run('privacy', 'erase', GOOGLE, '--yes'), { status: 0, out: /ledger/ })
    const { found: erased } = exportEvidence('Google', '--addresses')
    t.match(erased, { ok: true, addresses: [], axes: { disclosure: { outcome: 'not_provided' } } })
    const tampered = write('tampered.json', disclosed.replace('articles', 'articlez'))
    t.match(verify(tampered), { status: 1, out: /^inclusion +fail/m })
    for (const [args, err] of [
      [['--ai', '--evidence', 'Nobody'], /There is no record of Nobody from/],
      [['--evidence', 'Google'], /--evidence needs --ai/],
    ] as const) {
      t.match(run('report', ...args), { status: 1, err })
    }
  })
}

t.test('nothing is recorded unless it is asked for', async (t) => {
  const { sallyport, file } = await openService(t, { crawls: false })
  await visit(await (PLACES['express'] as (typeof PLACES)[string])(t, sallyport))
  await sallyport.close()
  const { status, err } = runCommand('report', '--ai', '--evidence', 'OpenAI', '--config', file)
  t.match([status, err], [1, /Set crawls to record what crawlers read; it is false/])
})
