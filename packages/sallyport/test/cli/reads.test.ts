import { readFileSync } from 'node:fs'
import { readBundle } from '@sallyport/engine/bundle'
import t from 'tap'
import { run, workspace } from './command.ts'

t.test('lookup, without any data', async (t) => {
  const { command } = workspace(t)
  const { code, out } = await command('lookup', '10.0.0.1/8', '--json')
  t.equal(code, 0)
  t.match(JSON.parse(out), { target: { raw: '10.0.0.1/8', kind: 'cidr' }, reserved: { reserved: true } })
  const text = await command('lookup', '192.0.2.1')
  t.match(text, {
    code: 0,
    out: /^192\.0\.2\.1\n(.*\n)*reserved +\S(.*\n)+known by +reserved, IANA's registries of 2025-10-09\n/,
  })
  t.match(await command('lookup', '1.2.3'), { code: 1, err: /^sallyport: .+\n$/ })
})

t.test('lookup of several targets: one that is none does not keep the others back', async (t) => {
  const { command } = workspace(t)
  const several = await command('lookup', '192.0.2.1', '1.2.3', '10.0.0.1')
  t.match(several, { code: 1, out: /^192\.0\.2\.1\n(.*\n)*10\.0\.0\.1\n/, err: /^sallyport: .*1\.2\.3.*\n$/m })
  const told = await command('lookup', '192.0.2.1', '1.2.3', '--json')
  t.match(JSON.parse(told.out), [{ target: { raw: '192.0.2.1' } }, { error: 'invalid_target', message: /1\.2\.3/ }])
})

t.test('data status and data compile', async (t) => {
  const { command } = workspace(t)
  t.match(await command('data', 'compile'), {
    code: 0,
    out: /^Compiled in .*data: \d+ sources of \S+ to \S+; .*\.\n$/,
  })
  const status = await command('data', 'status', '--json')
  const sources = JSON.parse(status.out)
  t.equal(status.err, '', 'nothing is compiled twice')
  t.match(
    sources.find(({ id }: { id: string }) => id === 'asn-csv-v4'),
    { state: 'absent' },
  )
  t.match(
    sources.find(({ id }: { id: string }) => id === 'reserved'),
    { state: 'loaded' },
  )
  const undated = sources.filter(
    ({ state, date }: { state: string; date?: string | undefined }) => state === 'loaded' && !date,
  )
  t.same(undated, [], 'whatever is loaded says from when it is')
  t.match((await command('data', 'status', '--all')).out, /^peeringdb-net +absent +PeeringDB acceptable use policy/m)
  t.match(
    (await command('data', 'status')).out,
    /^asn-csv-v4 +absent +CC-BY-4\.0\n {4}Routed IPv4 networks.*; disabled$/m,
  )
})

t.test('data bundle', async (t) => {
  const { command, folder } = workspace(t)
  const file = `${folder}/networks.bundle`
  t.match(await command('data', 'bundle', file), {
    code: 0,
    out: /^\S+ contains networks, .* MB\), but no /,
  })
  const { networks, sources, rangesLoaded } = await readBundle(readFileSync(file))
  t.same([networks, rangesLoaded], [undefined, false], 'a source that is not loaded is absent in it too')
  t.match(
    sources.find(({ id }) => id === 'reserved'),
    { state: 'loaded' },
  )
})

t.test('--data-dir wins over the file', async (t) => {
  const { config, folder } = workspace(t)
  const other = `${folder}/other`
  t.match(await run('data', 'compile', '--config', config, '--data-dir', other), { out: /Compiled in .*\/other: / })
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
  t.match(
    listed.find(({ slug }: { slug: string }) => slug === 'applebot'),
    { names: ['*.applebot.apple.com'], asns: [714, 6185], exclusive: true, ranges: 'applebot' },
  )
})
