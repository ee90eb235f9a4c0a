import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { ask, openConsoleApi, serve, until, visit, workspace } from './command.ts'

t.test('the console of one worker shows what all of them see', async (t) => {
  const { config, folder } = workspace(t, (folder) => [
    'demo: true',
    'trustProxy: [loopback]',
    `lists: { bad: { file: ${folder}/bad.txt } }`,
  ])
  writeFileSync(join(folder, 'bad.txt'), '')
  const proxy = await serve(t, config, ['--workers', '3'])
  const { err, url, admin, token } = proxy
  const console = openConsoleApi(proxy)
  await until(async () => (await console('health'))['processes'] === 3)
  const bearer = { authorization: `Bearer ${token}` }

  const streamed = request(`${admin}/console/api/stream`, { agent: false, headers: bearer }).end()
  const [stream] = (await once(streamed, 'response')) as [IncomingMessage]
  t.teardown(() => stream.destroy())
  let sent = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    sent += part
  })
  const streamedNow = () =>
    [...sent.matchAll(/^data: .*"seen":(\d+)/gm)].reduce((sum, [, seen]) => sum + Number(seen), 0)
  // The first turn says where each process is.
  await new Promise((resolve) => setTimeout(resolve, 300))

  const ids: string[] = []
  for (let count = 0; count < 12; count++) {
    const { headers } = await visit(`${url}/articles/gates`, { 'x-forwarded-for': '192.0.2.7' })
    ids.push(String(headers['x-request-id']))
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
  const post = (path: string, body: unknown, more = {}) =>
    ask(`${admin}/console/api/${path}`, { ...own, ...more }, JSON.stringify(body))
  const draft = { text: 'rules: [{ id: all, match: { path: [/articles/*] }, action: block }]' }
  let tried = await post('policy/what-if', draft)
  // A worker that does not answer in time, as on a busy machine, is named in the answer.
  while (/did not respond in time/.test(JSON.stringify(tried.json))) tried = await post('policy/what-if', draft)
  t.match(tried.json, { requests: 12, classes: [{ requests: 12, changed: 12, after: { block: 12 } }] })
  t.equal((tried.json['examples'] as readonly unknown[]).length, 3, 'a few of a kind, of all workers')

  t.match((await post('policy/save', draft, { 'if-match': '*' })).json, { saved: true })
  for (let asked = 0; asked < 6; asked++) t.match((await console('policy'))['text'], 'id: all', 'every worker has it')
  t.equal((await visit(`${url}/articles/gates`)).status, 403)

  const listed = await post('lists/add', { name: 'bad', entries: '192.0.2.7' })
  t.match(listed.json, { changed: ['192.0.2.7'] })
  await until(async () => {
    const held = new Set<unknown>()
    for (let asked = 0; asked < 9; asked++) {
      const rows = (await console('lists?q=192.0.2.7')) as unknown as readonly { readonly holds: unknown }[]
      held.add(rows[0]?.holds)
    }
    return held.size === 1 && held.has(true)
  })

  const signed = await post('session', {})
  const session = `${admin}/console/api/session`
  const cookie = String(signed.headers['set-cookie']).split(';', 1)[0] ?? ''
  const roles = async () => {
    const seen = new Set<unknown>()
    for (let asked = 0; asked < 6; asked++) seen.add((await ask(session, { cookie })).json['role'])
    return [...seen]
  }
  t.same(await roles(), ['admin'])
  await visit(session, { cookie, 'x-sallyport-console': '1' }, undefined, 'DELETE')
  t.same(await roles(), [null], 'who signs out is signed out of every worker')

  const code = /#sign-in=(\S+)/.exec(err())?.[1] ?? ''
  const link = { 'x-sallyport-console': '1', authorization: `Link ${code}` }
  const opened = await ask(session, link, '{}')
  t.match(opened.json, { role: 'read' }, 'the link that was printed signs in, whichever worker is asked')
  for (let asked = 0; asked < 6; asked++)
    t.match((await ask(session, link, '{}')).json, { error: 'unauthorized' }, 'once')

  const { text } = await visit(`${url}/?as=chatgpt`)
  t.match(text, 'Signed by ChatGPT agent', 'the key of the demo is made at the first start, and every worker has it')
})
