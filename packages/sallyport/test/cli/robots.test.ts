import t from 'tap'
import { workspace } from './command.ts'

t.test('robots prints what the policy comes to, and says what it could not say', async (t) => {
  const { command, object } = workspace(t, [
    'policy: { preset: observe, rules: [{ id: a, match: { path: [/x/**] }, action: block }, { id: b, match: { country: [KP] }, action: block }] }',
    'routes: [{ host: a.example, path: /y, policy: { preset: observe, default: block } }]',
  ])
  const { code, out, err } = await command('robots')
  t.equal(code, 0)
  t.match(out, /^# Made [^\n]*\n\nUser-agent: \*\nDisallow: \/x\$\nDisallow: \/x\?\nDisallow: \/x\/\n$/)
  t.equal(err, 'Rules that robots.txt cannot express in full: b (country)\n')
  t.match((await command('robots', '--host', 'a.example')).out, /Disallow: \/y\//)
  t.match(await object('robots'), { text: String, unspoken: ['b'] })
  const monitored = workspace(t, ['mode: monitor', 'policy: { preset: protect-content }'])
  t.match(await monitored.command('robots'), {
    code: 0,
    out: /User-agent: \*\nAllow: \/\n$/,
    err: 'Monitor mode blocks nothing, so robots.txt disallows nothing.\n',
  })
})

t.test('decoys are disallowed in every group, in monitor mode too, and nothing below them is', async (t) => {
  const decoys = 'decoys: { paths: [/trap, /staff/rota$] }'
  const policy = 'policy: { preset: protect-content, strikes: { count: 1, window: 10m, on: [decoy], for: 1h } }'
  const said = ['/trap', '/staff/rota$']
    .flatMap((path) => ['$', '?', '/$', '/?'].map((end) => `Disallow: ${path}${end}\n`))
    .join('')
  const { out } = await workspace(t, [decoys, policy]).command('robots')
  const groups = out.split('\n\n').filter((group) => group.startsWith('User-agent:'))
  t.ok(groups.length > 1)
  for (const group of groups)
    t.ok(/\nDisallow: \/$/.test(group.trimEnd()) || `${group.trimEnd()}\n`.endsWith(said), group)
  const { command } = workspace(t, ['mode: monitor', decoys, policy])
  t.match(await command('robots'), {
    out: `User-agent: *\n${said}`,
    err: 'Monitor mode blocks nothing, so robots.txt disallows decoys only.\n',
  })
})
