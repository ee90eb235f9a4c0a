import { writeFileSync } from 'node:fs'
import t from 'tap'
import { run, workspace } from './command.ts'

t.test('config check says all that is wrong, and warns', async (t) => {
  const { folder, config } = workspace(t)
  t.strictSame(await run('config', 'check', config), { code: 0, out: 'The configuration is valid.\n', err: '' })
  const file = `${folder}/bad.yaml`
  writeFileSync(file, 'mode: monitr\nlistn: 127.0.0.1:1\n')
  const lines = [
    `${file}:1: mode: "monitr" is unknown; did you mean "monitor"?`,
    `${file}:2: unknown key "listn"; did you mean "listen"?`,
  ]
  t.strictSame(await run('config', 'check', file), { code: 2, out: '', err: `${lines.join('\n')}\n` })
  t.strictSame(await run('crawlers', 'list', '--config', file).then(({ code }) => code), 0, 'it reads none')
  t.match(await run('data', 'status', '--config', file), { code: 2, err: `sallyport: ${lines[0]}\n${lines[1]}\n` })
  const told = await run('config', 'check', '--config', file, '--json')
  t.equal(told.code, 2)
  t.match(JSON.parse(told.out), { ok: false, errors: [{ place: { file, line: 1 }, key: 'mode' }, {}], warnings: [] })

  writeFileSync(file, 'policy: { rules: [{ id: all, match: {}, action: allow }] }\n')
  t.match(await run('config', 'check', file), {
    code: 0,
    err: /^warning: \S+bad\.yaml:1: policy\.rules\.0: rule "all": /,
  })
})

t.test('config show', async (t) => {
  const { folder, config } = workspace(t, ['store: postgres://app:sesame@db/app'])
  const { code, out } = await run('config', 'show', '--config', config, '--data-dir', `${folder}/other`)
  t.equal(code, 0)
  t.match(out, /^listen +127\.0\.0\.1:8080 +default$/m)
  t.match(out, /^dataDir +\S+\/other +--data-dir$/m)
  t.match(out, /^data\.refresh +false +\S+test\.yaml:3$/m)
  t.match(out, /^store +\*\*\* +\S+test\.yaml:\d+$/m)
  const told = JSON.parse((await run('config', 'show', '--json', '--config', config)).out)
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
