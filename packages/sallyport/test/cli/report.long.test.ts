import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TALLY_FILE } from '@sallyport/engine'
import t from 'tap'
import { FIREFOX, GPTBOT, openOrigin, run, serve, until, visit, workspace } from './command.ts'

/** The policy that is in force at first; later the trial is carried out. */
const TRIED = `policy:
  rules:
    - { id: try-shop, match: { path: ['/shop/**'] }, action: block, monitor: true }
    - { id: shut, match: { path: ['/shut/**'] }, action: block }
`

t.test('a service is reported by what it counted, for people, programs and a browser', async (t) => {
  const upstream = await openOrigin(t)
  const { folder, config, command, object, write } = workspace(t, (folder) => [
    `upstream: ${upstream}`,
    'trustProxy: [loopback]',
    'console: { enabled: false }',
    `robots: { file: ${folder}/robots.txt }`,
  ])
  write('robots.txt', 'User-agent: GPTBot\nDisallow: /private/\n')
  const head = readFileSync(config, 'utf8')
  writeFileSync(config, head + TRIED)
  const nothing = await command('report', '--ai')
  t.match(nothing, { code: 1, err: /There are no counts yet in .*data\. Use sallyport replay/ })
  const proxy = await serve(t, config, [], 'API at')
  const ask = async (client: number, path: string, name = FIREFOX, more: Readonly<Record<string, string>> = {}) => {
    const browser = { accept: 'text/html', 'accept-language': 'en', 'accept-encoding': 'gzip' }
    const headers = { ...browser, 'user-agent': name, 'x-forwarded-for': `91.3.0.${client}`, ...more }
    return (await visit(`${proxy.url}${path}`, headers)).status
  }
  for (let client = 0; client < 20; client++) t.equal(await ask(client, `/page/${client}`), 200)
  for (const client of [1, 2, 3]) t.equal(await ask(client, '/shop/cart'), 200)
  t.equal(await ask(3, '/shut/door'), 403)
  t.equal(await ask(4, '/502'), 502)
  t.equal(await ask(5, '/?utm_source=chatgpt.com'), 200)
  t.equal(await ask(6, '/about', FIREFOX, { referer: 'https://www.perplexity.ai/' }), 200)
  for (const path of ['/', '/private/1']) t.equal(await ask(50, path, GPTBOT), 200)
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
  for (const client of [1, 2]) t.equal(await ask(client, '/shop/cart'), 403)
  t.equal(await proxy.stop(), 0)
  const after = await all()
  t.equal(after.requests, 31, 'a stop writes what was counted')
  t.match(after.changes, [{ changed: ['policy.rules'], before: { requests: 29 }, after: { requests: 2, hit: 1 } }])

  const text = await command('report')
  const [title, first] = text.out.split('\n')
  t.match(title, /^Visitors affected: \S+%, and 1[456]\.\d% if all were enforced$/, 'the first line is the answer')
  t.match(first, /^If monitor mode and dry runs were enforced: about 3 people \(1[456]\.\d%\): 6 requests refused\.$/)
  for (const said of [/try-shop +block +dry run +3 /, /try-shop +block +enforced +2 /, /5xx +1 /, /\/page\/\* +20 /])
    t.match(text.out, said)

  const ai = await command('report', '--ai')
  t.match(ai.out, /^claims to be OpenAI +training +2 +new +2 +.* +1 +0 +0$/m, 'a claim is shown as one')
  t.match(ai.out, /Requests that violated robots\.txt: claims to be OpenAI \(1\)/)
  for (const service of ['ChatGPT', 'Perplexity']) t.match(ai.out, new RegExp(`^${service} +1 +new `, 'm'))
  t.match(await object('report', '--ai'), {
    operators: [{ operator: 'OpenAI', claim: 'unverifiable', requests: 2, pages: 2, disallowed: 1 }],
    referrals: [{ visits: 1 }, { visits: 1 }],
  })

  const lines = readFileSync(join(folder, 'data', TALLY_FILE)).toString('latin1')
  t.notMatch(lines, /91\.3\.0\./, 'no address is written')
})
