import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '@sallyport/engine'
import t from 'tap'
import { serve, visit, workspace } from './command.ts'

interface Place {
  readonly place: string
  readonly entries: readonly unknown[]
}

const findPlace = ({ places }: { readonly places: readonly Place[] }, wanted: string) =>
  places.find(({ place }) => place === wanted)

t.test("data about an address is exported with the memory of a running service's console", async (t) => {
  const { command, object, config, folder } = workspace(t, ['demo: true', 'trustProxy: [loopback]'])
  const { url, admin } = await serve(t, config)
  const where = admin.replace('http://', '')
  for (const client of ['203.0.113.7', '203.0.113.70']) await visit(url, { 'x-forwarded-for': client })
  process.env['SALLYPORT_ADMIN'] = where
  t.teardown(() => Reflect.deleteProperty(process.env, 'SALLYPORT_ADMIN'))

  const history = findPlace(await object('privacy', 'export', '203.0.113.7'), 'console history')
  t.match(history, { state: 'read', where, entries: [{ client: '203.0.113.7', host: String }] })
  t.match((await command('privacy', 'export', '203.0.113.7')).out, /console history +read +1/)
  const erased = await object('privacy', 'erase', '203.0.113.7', '--yes')
  t.match(findPlace(erased, 'console history'), { state: 'kept' })

  const trail = readFileSync(join(folder, 'data', 'audit.log'), 'utf8')
  t.match(trail, /"audit":"privacy export".*"complete":true/)
  t.match(trail, /"audit":"privacy erase"/)
  t.notMatch(trail, /203\.0\.113\.7/, 'the trail outlives what it is about')
})

t.test('what is remembered of a user is exported and erased, by the id or by the identifier', async (t) => {
  const { command, object, folder } = workspace(t, ['net: { outbound: false }'])
  const dataDir = join(folder, 'data')
  const sallyport = await open({ dataDir, data: { refresh: false }, net: { outbound: false } }, { onNotice() {} })
  const visitor = { address: '81.130.10.20', headers: {} }
  const login = { event: 'login', outcome: 'success', visitor }
  await sallyport.accounts.assessDescribed({ ...login, user: '17', identifier: 'ada@shop.example' })
  await sallyport.accounts.assessDescribed({ ...login, identifier: 'bob@shop.example' })
  await sallyport.close()
  for (const user of ['17', 'Bob@shop.example']) {
    const entries = async () => findPlace(await object('privacy', 'export', '--user', user), 'logins')?.entries
    t.match(await entries(), [{ networks: [[/./]], countries: [['GB']] }], user)
    const { out } = await command('privacy', 'erase', '--user', user, '--yes')
    t.match(out, /^logins +erased +1 /m)
    t.strictSame(await entries(), [])
  }
  t.notMatch(readFileSync(join(dataDir, 'audit.log'), 'utf8'), /shop\.example/, 'the trail names nobody')
})

t.test('a place that does not answer is named, and the command fails', async (t) => {
  const { command } = workspace(t, ['store: postgres://nobody@127.0.0.1:1/none', 'console: { enabled: false }'])
  const { code, out, err } = await command('privacy', 'export', '203.0.113.7', '--json')
  t.match([code, err], [1, /some stores did not respond/])
  const known = JSON.parse(out)
  t.equal(known.complete, false)
  t.match(findPlace(known, 'ledger'), { state: 'unreachable', reason: String })
})
