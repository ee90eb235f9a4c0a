import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, workspace } from './command.ts'

/** No machine has these addresses. */
const free = async () => [`listen: 127.0.0.1:${await freePort()}`, `admin: 127.0.0.1:${await freePort()}`]

t.test('config check says all that is wrong, and warns', async (t) => {
  const addresses = await free()
  const { config, folder, write } = workspace(t, addresses)
  t.match(await run('config', 'check', config), {
    code: 0,
    out: /^The configuration is valid\.\n$/,
    err: /^notice: \S+: policy: these rules only flag: .+ Act on the header sallyport-action, .+\n$/,
  })
  t.match(await run('config', 'check', '--data-dir', folder), {
    code: 0,
    out: /^No configuration file was read, because there is no sallyport\.yaml in this directory\. .+ are valid\.\n$/,
  })
  const file = write('bad.yaml', 'mode: monitr\nlistn: 127.0.0.1:1\n')
  const lines = [
    `${file}:1: mode: "monitr" is unknown; did you mean "monitor"?`,
    `${file}:2: unknown key "listn"; did you mean "listen"?`,
  ]
  t.strictSame(await run('config', 'check', file), { code: 2, out: '', err: `${lines.join('\n')}\n` })
  t.equal((await run('crawlers', 'list', '--config', file)).code, 0, 'it reads none')
  t.match(await run('data', 'status', '--config', file), { code: 2, err: `sallyport: ${lines[0]}\n${lines[1]}\n` })
  const told = await run('config', 'check', '--config', file, '--json')
  t.equal(told.code, 2)
  const errors = [{ place: { file, line: 1 }, key: 'mode' }, {}]
  t.match(JSON.parse(told.out), { ok: false, errors, warnings: [], notices: [] })

  const rest = `${addresses.join('\n')}\ndataDir: ${folder}/data\n`
  write('bad.yaml', `policy: { preset: observe }\n${rest}`)
  t.match(await run('config', 'check', file), { code: 0, err: '' }, 'what flags nothing has no notice')
  write('bad.yaml', `policy: { rules: [{ id: all, match: {}, action: allow }] }\n${rest}`)
  const warning = /^warning: \S+bad\.yaml:1: policy\.rules\.0: rule "all": /
  t.match(await run('config', 'check', file), { code: 0, err: warning })
})

t.test('config check reads what a start reads: certificates, files, origins', async (t) => {
  const [listen = '', admin = ''] = await free()
  const port = await freePort()
  const { object, config } = workspace(t, [
    listen,
    admin,
    'tls: { certificates: [{ cert: /no/where.pem, key: /no/where.key }] }',
    'refusal: { template: /no/page.html }',
    `upstream: http://127.0.0.1:${port}`,
    `routes: [{ host: a.example, upstreams: ["http://${listen.slice('listen: '.length)}"] }]`,
  ])
  const { code, out, err } = await run('config', 'check', config)
  t.equal(code, 2)
  t.equal(out, '')
  const said = (key: string, text: string) => new RegExp(`^\\S+test\\.yaml:\\d+: ${key}: ${text}$`, 'm')
  t.match(err, said('tls\\.certificates\\.0\\.cert', '/no/where\\.pem does not exist'))
  t.match(err, said('refusal\\.template', '/no/page\\.html does not exist'))
  t.match(err, said('routes\\.0\\.upstreams\\.0', 'http://\\S+ is the address in listen, .+'))
  t.match(err, /^warning: \S+: upstream: http:\S+ cannot be reached: nothing listens there$/m)
  t.equal(err.split('\n').length, 6, 'one sentence each, and the notice about flags')
  const { errors, warnings } = await object('config', 'check')
  t.same([errors.length, warnings.length], [3, 1])
})

t.test('config show', async (t) => {
  const { object, config, folder } = workspace(t, ['store: postgres://app:sesame@db/app'])
  const { code, out } = await run('config', 'show', '--config', config, '--data-dir', `${folder}/other`)
  t.equal(code, 0)
  t.match(out, /^listen +127\.0\.0\.1:8080 +default$/m)
  t.match(out, /^dataDir +\S+\/other +--data-dir$/m)
  t.match(out, /^data\.refresh +false +\S+test\.yaml:3$/m)
  t.match(out, /^store +\*\*\* +\S+test\.yaml:\d+$/m)
  const told = await object('config', 'show')
  const queue = told.find(({ key }: { key: string }) => key === 'timeouts.queue')
  t.match(queue, { value: '5s' })
  t.match(JSON.parse((await run('config', 'schema')).out), { title: 'sallyport.yaml' })
})
