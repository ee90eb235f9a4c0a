import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { PaymentProvider } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { inspection } from '@sallyport/express'
import { openProxy } from '@sallyport/proxy'
import express from 'express'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { NO_DATA } from '../no-data.ts'
import { ROOT } from '../workspaces.ts'

const LOCAL = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } } as const
const BIN = join(ROOT, 'packages/sallyport/bin/sallyport.mjs')
/** Is in the ranges that are shipped. */
const GOOGLE = '66.249.66.1'
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const OFFER = { price: 'USD 0.5', licence: 'https://shop.example/paid.xml' }
const ROBOTS =
  'User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=n\n\nLicense: https://shop.example/licence.xml\n'
function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return { status, out: stdout, err: stderr }
}

async function opened(t: Test, more: object) {
  const dataDir = t.testdir({ 'robots.txt': ROBOTS })
  const policy = {
    rules: [{ id: 'private', match: { path: ['/private/**'], crawler: ['gptbot'] }, action: 'block' }],
  } as const
  const config = {
    dataDir,
    data: { refresh: false, sources: NO_DATA },
    trustProxy: ['loopback'],
    crawls: 'pattern' as const,
    policy: {
      rules: [
        ...policy.rules.map((rule) => ({ ...rule, match: { path: ['/private/**'], crawler: ['gptbot'] } })),
        { id: 'paid', match: { path: ['/library/**'] }, action: 'offer' as const, offer: OFFER },
      ],
    },
    ...more,
  }
  const file = join(dataDir, 'sallyport.yaml')
  writeFileSync(file, JSON.stringify(config))
  const payments: PaymentProvider = {
    accept: async ({ text }) =>
      text === 'USD 5'
        ? { accepted: false, reason: 'closed' }
        : { accepted: true, receipt: `pay_${text}`.replace(' ', '_') },
  }
  const sallyport = await open(config, { onNotice: () => {}, payments })
  t.teardown(() => sallyport.close())
  return { sallyport, file, dataDir, config }
}

/** Visits of two crawlers: one from a range that its operator publishes, one that only claims. */
async function visit(url: string): Promise<void> {
  const get = async (path: string, from: string, agent: string, price?: string) => {
    const { body, statusCode } = await request(`${url}${path}`, {
      headers: {
        'user-agent': agent,
        'x-forwarded-for': from,
        host: 'shop.example',
        ...(price && { 'crawler-max-price': price }),
      },
    })
    await body.dump()
    return statusCode
  }
  await get('/', GOOGLE, GOOGLEBOT)
  for (const id of [1, 2, 3]) await get(`/articles/${id}`, GOOGLE, GOOGLEBOT)
  await get('/articles/4', '5.9.10.20', GPTBOT)
  await get('/library/1', GOOGLE, GOOGLEBOT)
  for (const price of ['USD 0.5', 'USD 0.7', 'USD 5', 'USD 0.1']) await get('/library/2', GOOGLE, GOOGLEBOT, price)
  await get('/private/5', '5.9.10.20', GPTBOT)
  await get('/articles/6', '73.162.10.20', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0')
}

/** Builds the file of an operator by the command and returns what the verifier finds in it. */
function exportEvidence(file: string, folder: string, keys: string, operator: string, ...more: readonly string[]) {
  const made = run('report', '--ai', '--evidence', operator, '--from', '1h', '--to', '0s', '--config', file, ...more)
  if (made.status !== 0) throw new Error(made.err)
  const saved = join(folder, `${operator}.json`)
  writeFileSync(saved, made.out)
  return { saved, text: made.out, found: JSON.parse(run('evidence', 'verify', saved, '--keys', keys, '--json').out) }
}

t.test(
  'which pages an operator read against the preference of the site, in a file that verifies offline',
  async (t) => {
    for (const host of ['express', 'proxy']) {
      await t.test(host, async (t) => {
        const robots = { robots: { file: '' } }
        const folder = t.testdirName
        robots.robots.file = join(folder, 'robots.txt')
        const origin = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>a page'))
        origin.listen(0, '127.0.0.1')
        await once(origin, 'listening')
        t.teardown(() => void origin.close())
        const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
        const { sallyport, file, dataDir } = await opened(t, {
          ...robots,
          ...(host === 'proxy' ? { upstream, listen: '127.0.0.1:0' } : {}),
        })
        if (host === 'express') {
          const app = express()
          app.use(inspection(sallyport))
          app.use((_, response) => void response.type('html').send('<p>a page'))
          const server = app.listen(0, '127.0.0.1')
          await once(server, 'listening')
          await visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
          server.close()
          await once(server, 'close')
        } else {
          const proxy = await openProxy(sallyport, { ...LOCAL, upstream })
          await visit(proxy.url)
          await proxy.close()
        }
        const keys = join(dataDir, 'keys.json')
        writeFileSync(keys, JSON.stringify(await sallyport.provenance.keys()))
        await sallyport.close()

        const { found: gptbot, text, saved } = exportEvidence(file, dataDir, keys, 'OpenAI')
        const preference = {
          host: 'shop.example',
          contentUsage: 'train-ai=n',
          licence: 'https://shop.example/licence.xml',
        }
        t.match(gptbot, { ok: true, isProven: true, operator: 'OpenAI', addresses: [] })
        t.match(
          [...gptbot.paths].sort((x: { path: string }, y: { path: string }) => (x.path < y.path ? -1 : 1)),
          [
            {
              path: '/articles/*',
              robots: 'allowed',
              action: 'flag',
              proof: 'claim',
              crawler: 'GPTBot',
              purpose: 'training',
              requests: 1,
              pages: 1,
              preference,
            },
            {
              path: '/private/*',
              robots: 'disallowed',
              action: 'block',
              enforced: true,
              proof: 'claim',
              requests: 1,
              pages: 0,
              preference,
            },
          ],
        )
        t.ok(gptbot.paths.every(({ bytes }: { bytes: number }) => bytes > 0))
        t.match(JSON.parse(text).documents, [{ text: ROBOTS }])
        t.notMatch(text, /5\.9\.10\.20|73\.162/)
        t.match(run('evidence', 'verify', saved, '--keys', keys), {
          status: 0,
          out: /^Proven: the service recorded that OpenAI requested:\npath +robots\.txt .*\n[\s\S]*^\/private\/\* +disallowed +train-ai=n +https:\/\/shop\.example\/licence\.xml +GPTBot/m,
        })
        const { found: google, text: disclosed } = exportEvidence(file, dataDir, keys, 'Google', '--addresses')
        t.match(google, { ok: true, addresses: [GOOGLE], axes: { disclosure: { outcome: 'pass' } } })
        t.match(
          google.paths.find(({ proof }: { proof: string }) => proof === 'published range'),
          { path: '/articles/*', robots: 'allowed' },
        )
        const offers = google.paths.filter(({ price }: { price?: string }) => price !== undefined)
        t.same(
          offers.map(({ action, requests, pages }: typeof google) => [action, requests, pages]),
          [
            ['offer', 3, 0],
            ['allow', 2, 2],
          ],
        )
        t.match(offers[1], { ...OFFER, receipts: ['pay_USD_0.5', 'pay_USD_0.7'] })
        t.equal(offers[0].receipts, undefined)
        t.match(run('ledger', 'verify', '--config', file), { status: 0, out: /^Good: / })
        t.match(run('report', '--ai', '--config', file).out, /^Priced requests\n[\s\S]*^paid +paid +2$/m)
        const known = JSON.parse(run('privacy', 'export', GOOGLE, '--config', file, '--json').out)
        t.match(known.places[0], { place: 'ledger', entries: [{ log: 'c/google', record: { type: 'crawl' } }] })
        t.match(run('privacy', 'erase', GOOGLE, '--config', file, '--yes'), { status: 0, out: /ledger/ })
        const { found: erased } = exportEvidence(file, dataDir, keys, 'Google', '--addresses')
        t.match(erased, { ok: true, addresses: [], axes: { disclosure: { outcome: 'not_provided' } } })
        const tampered = join(dataDir, 'tampered.json')
        writeFileSync(tampered, disclosed.replace('articles', 'articlez'))
        t.match(run('evidence', 'verify', tampered, '--keys', keys), { status: 1, out: /^inclusion +fail/m })
        t.match(run('report', '--ai', '--evidence', 'Nobody', '--config', file), {
          status: 1,
          err: /There is no record of Nobody from/,
        })
        t.match(run('report', '--evidence', 'Google', '--config', file), { status: 1, err: /--evidence needs --ai/ })
      })
    }
  },
)

t.test('nothing is recorded unless it is asked for', async (t) => {
  const { sallyport, file } = await opened(t, { crawls: false })
  const app = express()
  app.use(inspection(sallyport))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  server.close()
  await sallyport.close()
  t.match(run('report', '--ai', '--evidence', 'OpenAI', '--config', file), {
    status: 1,
    err: /Set crawls to record what crawlers read; it is false/,
  })
})
