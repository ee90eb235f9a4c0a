import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { TALLY_FILE } from '@sallyport/engine'
import t from 'tap'
import { run, start, until, workspace } from './command.ts'
import { FIREFOX, GPTBOT, openOrigin } from './tally-traffic.ts'

/** The policy that is in force at first; later the trial is carried out. */
const TRIED = `policy:
  rules:
    - { id: try-shop, match: { path: ['/shop/**'] }, action: block, monitor: true }
    - { id: shut, match: { path: ['/shut/**'] }, action: block }
`

t.test('a service is reported by what it counted, for people, programs and a browser', async (t) => {
  const upstream = await openOrigin(t)
  const { folder, config } = workspace(t)
  const robots = join(folder, 'robots.txt')
  writeFileSync(robots, 'User-agent: GPTBot\nDisallow: /private/\n')
  const rest = `upstream: ${upstream}\ntrustProxy: [loopback]\nconsole: { enabled: false }\nrobots: { file: ${robots} }\n`
  const head = readFileSync(config, 'utf8') + rest
  writeFileSync(config, head + TRIED)
  const nothing = await run('report', '--ai', '--config', config)
  t.match(nothing, { code: 1, err: /There are no counts yet in .*data\. Use sallyport replay/ })
  const proxy = start(t, ['proxy', '--config', config, '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'])
  await proxy.says('Listening')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const visit = (client: number, path: string, name = FIREFOX, more: Readonly<Record<string, string>> = {}) =>
    new Promise<number>((resolve, reject) => {
      const browser = { accept: 'text/html', 'accept-language': 'en', 'accept-encoding': 'gzip' }
      const headers = { ...browser, 'user-agent': name, 'x-forwarded-for': `91.3.0.${client}`, ...more }
      request(`${url}${path}`, { agent: false, headers }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })
  for (let client = 0; client < 20; client++) t.equal(await visit(client, `/page/${client}`), 200)
  for (const client of [1, 2, 3]) t.equal(await visit(client, '/shop/cart'), 200)
  t.equal(await visit(3, '/shut/door'), 403)
  t.equal(await visit(4, '/502'), 502)
  t.equal(await visit(5, '/?utm_source=chatgpt.com'), 200)
  t.equal(await visit(6, '/about', FIREFOX, { referer: 'https://www.perplexity.ai/' }), 200)
  t.equal(await visit(50, '/', GPTBOT), 200)
  t.equal(await visit(50, '/private/1', GPTBOT), 200)
  const all = async () => {
    const { code, out } = await run('report', '--json', '--since', '24h', '--config', config)
    return code === 0 ? JSON.parse(out).tally : undefined
  }
  await until(() => existsSync(join(folder, 'data', TALLY_FILE)))
  await until(async () => (await all())?.requests === 29)
  t.match(await all(), {
    requests: 29,
    visitors: { requests: 27, hit: { people: 1, requests: 1 }, wouldHit: { requests: 4, asked: 0 } },
    answers: [
      { name: '2xx', requests: 27 },
      { name: '403', requests: 1, ours: 1 },
      { name: '5xx', ours: 0 },
    ],
    byPurpose: [{ name: 'training', requests: 2 }],
    changes: [],
  })

  // The trial is carried out: the report holds both times against each other.
  writeFileSync(config, head + TRIED.replace(', monitor: true', ''))
  proxy.child.kill('SIGHUP')
  await proxy.says('configuration reloaded')
  for (const client of [1, 2]) t.equal(await visit(client, '/shop/cart'), 403)
  proxy.child.kill('SIGTERM')
  t.equal(await proxy.ended, 0)
  const after = await all()
  t.equal(after.requests, 31, 'a stop writes what was counted')
  t.match(after.changes, [{ changed: ['policy.rules'], before: { requests: 29 }, after: { requests: 2, hit: 1 } }])

  const text = await run('report', '--config', config)
  const [title, first] = text.out.split('\n')
  t.match(
    title,
    /^Visitors affected: \S+%, and 1[456]\.\d% if all were enforced$/,
    'the question is answered in the first line',
  )
  t.match(first, /^If monitor mode and dry runs were enforced: about 3 people \(1[456]\.\d%\): 6 requests refused\.$/)
  for (const said of [/try-shop +block +dry run +3 /, /try-shop +block +enforced +2 /, /5xx +1 /, /\/page\/\* +20 /])
    t.match(text.out, said)

  const ai = await run('report', '--ai', '--config', config)
  t.match(ai.out, /^claims to be OpenAI +training +2 +new +2 +.* +1 +0 +0$/m, 'a claim is shown as one')
  t.match(ai.out, /Requests that violated robots\.txt: claims to be OpenAI \(1\)/)
  for (const service of ['ChatGPT', 'Perplexity']) t.match(ai.out, new RegExp(`^${service} +1 +new `, 'm'))
  t.match(JSON.parse((await run('report', '--ai', '--json', '--config', config)).out), {
    operators: [{ operator: 'OpenAI', claim: 'unverifiable', requests: 2, pages: 2, disallowed: 1 }],
    referrals: [{ visits: 1 }, { visits: 1 }],
  })

  const lines = readFileSync(join(folder, 'data', TALLY_FILE)).toString('latin1')
  t.notMatch(lines, /91\.3\.0\./, 'no address is written')
})
