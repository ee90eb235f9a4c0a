import t from 'tap'
import { run, workspace } from './command.ts'

t.test('lookup, without any data', async (t) => {
  const { config } = workspace(t)
  const { code, out } = await run('lookup', '10.0.0.1/8', '--json', '--config', config)
  t.equal(code, 0)
  t.match(JSON.parse(out), { target: { raw: '10.0.0.1/8', kind: 'cidr' }, reserved: { reserved: true } })
  const text = await run('lookup', '192.0.2.1', '--config', config)
  t.match(text, { code: 0, out: /^192\.0\.2\.1\n(.*\n)*reserved +\S/ })
  t.match(await run('lookup', '1.2.3', '--config', config), { code: 1, err: /^sallyport: .+\n$/ })
})

t.test('data status and data compile', async (t) => {
  const { config } = workspace(t)
  t.match(await run('data', 'compile', '--config', config), { code: 0, out: /\nCompiled in .*data\.\n$/ })
  const status = await run('data', 'status', '--json', '--config', config)
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
  t.match((await run('data', 'status', '--config', config)).out, /^asn-csv-v4 +.* absent/m)
})

t.test('--data-dir wins over the file', async (t) => {
  const { folder, config } = workspace(t)
  const other = `${folder}/other`
  t.match(await run('data', 'compile', '--config', config, '--data-dir', other), { out: /Compiled in .*\/other\.\n$/ })
})
