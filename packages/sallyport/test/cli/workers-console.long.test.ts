import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { ask, start, until, workspace } from './command.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']

t.test('the console of one worker shows what all of them see', async (t) => {
  const { config, folder } = workspace(t, ['demo: true', 'trustProxy: [loopback]', 'lists: { bad: { file: FILE } }'])
  const file = join(folder, 'bad.txt')
  writeFileSync(file, '')
  writeFileSync(config, readFileSync(config, 'utf8').replace('FILE', file))
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '3'])
  await proxy.says('with the token in')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const admin = /Console at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const token = readFileSync(/with the token in (\S+)/.exec(proxy.err())?.[1] ?? '', 'utf8').trim()
  const bearer = { authorization: `Bearer ${token}` }
  const console = async (path: string) => (await ask(`${admin}/console/api/${path}`, bearer)).json
  await until(async () => (await console('health'))['processes'] === 3)

  const streamed = request(`${admin}/console/api/stream`, { agent: false, headers: bearer }).end()
  const [stream] = (await once(streamed, 'response')) as [IncomingMessage]
  t.teardown(() => stream.destroy())
  let sent = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    sent += part
  })
  const streamedNow = () =>
    [...sent.matchAll(/^data: (.*)$/gm)].reduce(
      (sum, [, line = '{}']) => sum + Number(JSON.parse(line)['seen'] ?? 0),
      0,
    )
  // The first turn says where each process is.
  await new Promise((resolve) => setTimeout(resolve, 300))

  const ids: string[] = []
  for (let visit = 0; visit < 12; visit++) {
    const sent = request(`${url}/articles/gates`, { agent: false, headers: { 'x-forwarded-for': '192.0.2.7' } }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    ids.push(String(answer.headers['x-request-id']))
  }
  await until(() => streamedNow() >= 12)
  t.equal(streamedNow(), 12, 'a stream has the requests of every worker')
  for (let asked = 0; asked < 4; asked++) {
    const { totals, processes, silent } = await console('live?span=5m')
    t.match(totals, { allow: 12 })
    t.match({ processes, silent }, { processes: 3, silent: 0 })
    const { requests } = await console('requests?limit=20')
    t.same((requests as readonly { id: string }[]).map(({ id }) => id).toSorted(), ids.toSorted())
  }
  // The counts of all workers are in one file, some seconds later.
  await until(async () => {
    const { counted } = (await console('live?span=5m')) as { counted?: { paths: readonly unknown[] } | null }
    return JSON.stringify(counted?.paths[0])?.startsWith('{"name":"/articles/gates","requests":12,') === true
  })
  for (const id of ids) t.match(await console(`requests/${id}`), { observed: { id } })

  const own = { 'content-type': 'application/json', ...bearer }
  const what = 'rules: [{ id: all, match: { path: [/articles/*] }, action: block }]'
  const tryIt = () => ask(`${admin}/console/api/policy/what-if`, own, JSON.stringify({ text: what }))
  let tried = await tryIt()
  // A worker that does not answer in time, as on a busy machine, is named in the answer.
  while (/did not respond in time/.test(JSON.stringify(tried.json))) tried = await tryIt()
  t.match(tried.json, { requests: 12, classes: [{ requests: 12, changed: 12, after: { block: 12 } }] })
  t.equal((tried.json['examples'] as readonly unknown[]).length, 3, 'a few of a kind, of all workers')

  const saved = await ask(
    `${admin}/console/api/policy/save`,
    { ...own, 'if-match': '*' },
    JSON.stringify({ text: what }),
  )
  t.match(saved.json, { saved: true })
  for (let asked = 0; asked < 6; asked++) t.match((await console('policy'))['text'], 'id: all', 'every worker has it')
  const refused = request(`${url}/articles/gates`, { agent: false }).end()
  t.equal(((await once(refused, 'response')) as [IncomingMessage])[0].statusCode, 403)

  const listed = await ask(`${admin}/console/api/lists/add`, own, JSON.stringify({ name: 'bad', entries: '192.0.2.7' }))
  t.match(listed.json, { changed: ['192.0.2.7'] })
  await until(async () => {
    const held = new Set<unknown>()
    for (let asked = 0; asked < 9; asked++) {
      const rows = (await console('lists?q=192.0.2.7')) as unknown as readonly { readonly holds: unknown }[]
      held.add(rows[0]?.holds)
    }
    return held.size === 1 && held.has(true)
  })

  const signed = await ask(`${admin}/console/api/session`, { ...own }, '{}')
  const cookie = String(signed.headers['set-cookie']).split(';', 1)[0] ?? ''
  const roles = async () => {
    const seen = new Set<unknown>()
    for (let asked = 0; asked < 6; asked++)
      seen.add((await ask(`${admin}/console/api/session`, { cookie })).json['role'])
    return [...seen]
  }
  t.same(await roles(), ['admin'])
  const left = request(`${admin}/console/api/session`, {
    agent: false,
    method: 'DELETE',
    headers: { cookie, 'x-sallyport-console': '1' },
  }).end()
  await once(left, 'response')
  t.same(await roles(), [null], 'who signs out is signed out of every worker')

  const code = /#sign-in=(\S+)/.exec(proxy.err())?.[1] ?? ''
  const link = { 'x-sallyport-console': '1', authorization: `Link ${code}` }
  const opened = await ask(`${admin}/console/api/session`, link, '{}')
  t.match(opened.json, { role: 'read' }, 'the link that was printed signs in, whichever worker is asked')
  for (let asked = 0; asked < 6; asked++) {
    t.match((await ask(`${admin}/console/api/session`, link, '{}')).json, { error: 'unauthorized' }, 'once')
  }

  const page = await (await fetch(`${url}/?as=chatgpt`)).text()
  t.match(page, 'Signed by ChatGPT agent', 'the key of the demo is made at the first start, and every worker has it')
})

t.test('the funnel of questions is that of all workers', async (t) => {
  const rule = '{ id: ask, match: { path: [/members] }, action: challenge }'
  const policy = `policy: { preset: observe, rules: [${rule}] }`
  const { config } = workspace(t, ['demo: true', 'trustProxy: [loopback]', policy])
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, '--workers', '2'])
  await proxy.says('with the token in')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const admin = /Console at (http:\/\/[^/]+)/.exec(proxy.err())?.[1] ?? ''
  const token = readFileSync(/with the token in (\S+)/.exec(proxy.err())?.[1] ?? '', 'utf8').trim()
  const console = async (path: string) =>
    (await ask(`${admin}/console/api/${path}`, { authorization: `Bearer ${token}` })).json
  await until(async () => (await console('health'))['processes'] === 2)
  const visit = async (headers: Readonly<Record<string, string>> = {}) => {
    const browser = { 'user-agent': FIREFOX, accept: 'text/html', 'x-forwarded-for': '93.184.216.34' }
    const sent = request(`${url}/members`, { agent: false, headers: { ...browser, ...headers } }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    return { status: answer.statusCode, cookie: answer.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '' }
  }
  const asked = await Promise.all(Array.from({ length: 16 }, () => visit()))
  t.same(new Set(asked.map(({ status }) => status)), new Set([403]))
  for (const { cookie } of asked.slice(0, 5)) await until(async () => (await visit({ cookie })).status === 303)
  for (let bad = 0; bad < 7; bad++) t.equal((await visit({ 'sallyport-solution': 'x.1' })).status, 403)
  // The counts of all workers are in one file, some seconds later.
  type Counted = { readonly challenges: { readonly table: { readonly rows: readonly (readonly string[])[] } } | null }
  const counts = async () =>
    ((await console('live?span=5m'))['counted'] as Counted | null)?.challenges?.table.rows.map(
      ([rule, , asked, solved, failed]) => ({ rule, asked, solved, failed }),
    ) ?? []
  let shown: Awaited<ReturnType<typeof counts>> = []
  await until(async () => {
    shown = await counts()
    const [known, forged] = shown
    return known?.asked === '16' && known.solved === '5' && forged?.failed === '7'
  })
  t.match(shown, [
    { rule: 'ask', asked: '16', solved: '5' },
    { rule: 'unknown', asked: '0', failed: '7' },
  ])
})
