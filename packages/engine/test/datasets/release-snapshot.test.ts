import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { madeList, openFeedServer } from '#datasets/testing'
import { isShippable, makeSnapshot } from '../../build/make-snapshot.ts'
import { shippedSources } from '../../src/datasets/sources/shipped.ts'
import { folder } from './fixtures.ts'

const LOOPBACK = { net: { allowPrivate: ['127.0.0.1/32'] } }

t.test('a release ships what everybody may pass on', async (t) => {
  const ids = SOURCES.filter(isShippable).map(({ id }) => id)
  for (const id of ['asn-csv-v4', 'user-country-v4', 'tor-bulk-exit', 'x4bnet-vpn-ipv4', 'gluetun-servers']) {
    t.ok(ids.includes(id), id)
  }
  const not = [
    'bot-gptbot',
    'avastel-1day',
    'dbip-city-lite',
    'mullvad-relays',
    'iptoasn',
    'geofeed-aws',
    'asn-country-v4',
  ]
  t.same(
    not.filter((id) => ids.includes(id)),
    [],
  )
  const nameless = { ...(SOURCES.find(({ id }) => id === 'gluetun-servers') as SourceRow), copyright: undefined }
  t.notOk(isShippable(nameless), 'MIT asks for the name of its holder')
})

t.test('what publishers have is checked and lies in the snapshot, with its licences; the rest is named', async (t) => {
  const server = await openFeedServer(t)
  const to = join(folder(t), 'snapshot')
  const list = madeList(4_000)
  server.serve('/lists/x4bnet-vpn-ipv4', list)
  server.serve('/lists/x4bnet-dc-ipv4', 'a page of errors')
  const { sources, missing } = await makeSnapshot(to, { ...LOOPBACK, data: { mirror: server.url('/lists') } })
  t.match(sources, [{ id: 'x4bnet-vpn-ipv4', size: list.length, sha256: /^[0-9a-f]{64}$/ }])
  t.equal(missing.length, SOURCES.filter(isShippable).length - 1)
  t.match(missing.find(({ id }) => id === 'tor-bulk-exit')?.reason, /404/)
  t.same(readdirSync(to).sort(), ['NOTICE', 'index.json', 'x4bnet-vpn-ipv4'])
  t.equal(readFileSync(join(to, 'x4bnet-vpn-ipv4'), 'utf8'), list)
  t.match(readFileSync(join(to, 'NOTICE'), 'utf8'), /X4B \(Mathew Heard\)[\s\S]*Permission is hereby granted/)
  const file = shippedSources(to).get('x4bnet-vpn-ipv4')
  t.match(file, { size: statSync(join(to, 'x4bnet-vpn-ipv4')).size, path: join(to, 'x4bnet-vpn-ipv4') })
  t.ok(Math.abs((file?.made ?? 0) - Date.now()) < 60_000)
})

t.test('no publisher answers: there is no snapshot, and what is there does not come from one', async (t) => {
  const server = await openFeedServer(t)
  const to = join(folder(t), 'snapshot')
  const { sources } = await makeSnapshot(to, { ...LOOPBACK, data: { mirror: server.url('/none') } })
  t.same(sources, [])
  t.equal(shippedSources(to).size, 0)
  t.notOk(existsSync(join(to, 'x4bnet-vpn-ipv4')))
  t.equal(shippedSources(join(to, 'nowhere')).size, 0)
})
