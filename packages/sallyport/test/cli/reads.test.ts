import { readFileSync } from 'node:fs'
import { readBundle } from '@sallyport/engine/bundle'
import t from 'tap'
import { run, workspace } from './command.ts'

t.test('lookup, without any data', async (t) => {
  const { command, object } = workspace(t)
  t.match(await object('lookup', '10.0.0.1/8'), {
    target: { raw: '10.0.0.1/8', kind: 'cidr' },
    reserved: { reserved: true },
  })
  t.match(await command('lookup', '192.0.2.1'), {
    code: 0,
    out: /^192\.0\.2\.1\n(.*\n)*reserved +\S(.*\n)+known by +reserved, IANA's registries of 2025-10-09\n/,
  })
  t.match(await command('lookup', '1.2.3'), { code: 1, err: /^sallyport: .+\n$/ })
  const several = await command('lookup', '192.0.2.1', '1.2.3', '10.0.0.1')
  t.match(several, { code: 1, out: /^192\.0\.2\.1\n(.*\n)*10\.0\.0\.1\n/, err: /^sallyport: .*1\.2\.3.*\n$/m })
  const told = await object('lookup', '192.0.2.1', '1.2.3')
  t.match(told, [{ target: { raw: '192.0.2.1' } }, { error: 'invalid_target', message: /1\.2\.3/ }])
})

t.test('the data commands compile, list and bundle data', async (t) => {
  const { command, folder, write } = workspace(t)
  const other = `${folder}/other`
  t.match(await command('data', 'compile', '--data-dir', other), { out: /Compiled in .*\/other: / })
  t.match(await command('data', 'compile'), {
    code: 0,
    out: /^Compiled in .*data: \d+ sources of \S+ to \S+; .*\.\n$/,
  })
  const status = await command('data', 'status', '--json')
  t.equal(status.err, '', 'nothing is compiled twice')
  const sources: readonly { id: string; state: string; date?: string }[] = JSON.parse(status.out)
  const find = (wanted: string) => sources.find(({ id }) => id === wanted)
  t.match([find('asn-csv-v4'), find('reserved')], [{ state: 'absent' }, { state: 'loaded' }])
  const undated = sources.filter(({ state, date }) => state === 'loaded' && !date)
  t.same(undated, [], 'whatever is loaded says from when it is')
  t.match((await command('data', 'status', '--all')).out, /^peeringdb-net +absent +PeeringDB acceptable use policy/m)
  const disabled = /^asn-csv-v4 +absent +CC-BY-4\.0\n {4}Routed IPv4 networks.*; disabled$/m
  t.match((await command('data', 'status')).out, disabled)
  const file = write('networks.bundle', '')
  t.match(await command('data', 'bundle', file), { code: 0, out: /^\S+ contains networks, .* MB\), but no / })
  const { networks, sources: bundled, rangesLoaded } = await readBundle(readFileSync(file))
  t.same([networks, rangesLoaded], [undefined, false], 'a source that is not loaded is absent in it too')
  t.equal(bundled.find(({ id }) => id === 'reserved')?.state, 'loaded')
})

t.test('crawlers list', async (t) => {
  const { code, out, err } = await run('crawlers', 'list')
  t.equal(code, 0)
  t.equal(err, '', 'no data is loaded for it')
  t.match(out, /^googlebot +Google +search +published ranges, reverse DNS$/m)
  t.match(out, /^applebot +Apple +search +published ranges, operator ASN, reverse DNS$/m)
  t.match(out, /^chatgpt-agent +OpenAI +agent +signature$/m)
  t.match(out, /^google-extended +Google +training +robots\.txt name only, never sent$/m)
  t.match(out, /^discordbot +Discord +preview +nothing$/m)
  const listed = JSON.parse((await run('crawlers', 'list', '--json')).out)
  t.equal(listed.length, out.trim().split('\n').length - 1)
  const applebot = listed.find(({ slug }: { slug: string }) => slug === 'applebot')
  t.match(applebot, { names: ['*.applebot.apple.com'], asns: [714, 6185], exclusive: true, ranges: 'applebot' })
})
