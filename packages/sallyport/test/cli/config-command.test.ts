import { existsSync, writeFileSync } from 'node:fs'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, workspace } from './command.ts'

/** No machine has these addresses. */
const free = async () => [`listen: 127.0.0.1:${await freePort()}`, `admin: 127.0.0.1:${await freePort()}`]

t.test('config check says all that is wrong, and warns', async (t) => {
  const addresses = await free()
  const { config, folder } = workspace(t, addresses)
  t.match(await run('config', 'check', config), {
    code: 0,
    out: /^The configuration is valid\.\n$/,
    err: /^notice: \S+: policy: these rules only flag: .+ Act on the header sallyport-action, .+\n$/,
  })
  t.match(await run('config', 'check', '--data-dir', folder), {
    code: 0,
    out: /^No configuration file was read, because there is no sallyport\.yaml in this directory\. .+ are valid\.\n$/,
  })
  const file = `${folder}/bad.yaml`
  writeFileSync(file, 'mode: monitr\nlistn: 127.0.0.1:1\n')
  const lines = [
    `${file}:1: mode: "monitr" is unknown; did you mean "monitor"?`,
    `${file}:2: unknown key "listn"; did you mean "listen"?`,
  ]
  t.strictSame(await run('config', 'check', file), { code: 2, out: '', err: `${lines.join('\n')}\n` })
  t.strictSame(await run('crawlers', 'list', '--config', file).then(({ code }) => code), 0, 'it reads none')
  const kernel = { code: 2, err: 'cannot read /proc/version: it is in a file system of the kernel' }
  if (existsSync('/proc/version')) t.match(await run('config', 'check', '/proc/version'), kernel)
  t.match(await run('data', 'status', '--config', file), { code: 2, err: `sallyport: ${lines[0]}\n${lines[1]}\n` })
  const told = await run('config', 'check', '--config', file, '--json')
  t.equal(told.code, 2)
  const errors = [{ place: { file, line: 1 }, key: 'mode' }, {}]
  t.match(JSON.parse(told.out), { ok: false, errors, warnings: [], notices: [] })

  writeFileSync(file, `policy: { preset: observe }\n${addresses.join('\n')}\ndataDir: ${folder}/data\n`)
  t.match(await run('config', 'check', file), { code: 0, err: '' }, 'what flags nothing has no notice')

  const all = 'policy: { rules: [{ id: all, match: {}, action: allow }] }'
  writeFileSync(file, `${[all, ...addresses, `dataDir: ${folder}/data`].join('\n')}\n`)
  t.match(await run('config', 'check', file), {
    code: 0,
    err: /^warning: \S+bad\.yaml:1: policy\.rules\.0: rule "all": /,
  })
})

t.test('config check reads what a start reads: certificates, files, origins', async (t) => {
  const [listen = '', admin = ''] = await free()
  const port = await freePort()
  const { command, config, folder } = workspace(t, [
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
  const { errors, warnings } = JSON.parse((await run('config', 'check', config, '--json')).out)
  t.same([errors.length, warnings.length], [3, 1])
  const found = await command('doctor')
  t.equal(found.code, 1)
  t.match(found.out, /^fail {2}tls {8}\/no\/where\.pem does not exist\.$/m)
  t.match(found.out, /^fail {2}files {6}\/no\/page\.html does not exist\.$/m)
  t.match(found.out, /^fail {2}origins {4}http:\S+ cannot be reached: nothing listens there\.$/m)
  t.notMatch(found.out, / at .*\.[jt]s/, 'and no stack')
  t.ok(folder)
})

t.test('config show', async (t) => {
  const { command, config, folder } = workspace(t, ['store: postgres://app:sesame@db/app'])
  const { code, out } = await run('config', 'show', '--config', config, '--data-dir', `${folder}/other`)
  t.equal(code, 0)
  t.match(out, /^listen +127\.0\.0\.1:8080 +default$/m)
  t.match(out, /^dataDir +\S+\/other +--data-dir$/m)
  t.match(out, /^data\.refresh +false +\S+test\.yaml:3$/m)
  t.match(out, /^store +\*\*\* +\S+test\.yaml:\d+$/m)
  const told = JSON.parse((await command('config', 'show', '--json')).out)
  t.match(
    told.find(({ key }: { key: string }) => key === 'timeouts.queue'),
    { value: '5s' },
  )
})

t.test('config schema', async (t) => {
  const { code, out } = await run('config', 'schema')
  t.equal(code, 0)
  t.match(JSON.parse(out), { title: 'sallyport.yaml', properties: { mode: { enum: ['enforce', 'monitor'] } } })
})

t.test('config check names rules that nothing reaches, and what is trusted', async (t) => {
  const { config } = workspace(t, [
    ...(await free()),
    'policy:',
    '  rules:',
    '    - { id: mine, match: { cookie: { key: [secret] } }, action: allow, trustClaim: true }',
    '    - { id: wide, match: { path: [/**] }, action: block }',
    '    - { id: narrow, match: { path: [/a/b] }, action: flag }',
  ])
  const { code, out, err } = await run('config', 'check', config)
  t.equal(code, 0)
  t.match(err, /rule "narrow": no request reaches this rule, because the earlier rule "wide"/)
  t.match(err, /rule "mine": the rule allows by an unverified claim: nothing verifies cookie/)
  t.equal(out, 'The configuration is valid.\n')
})
