import t from 'tap'
import { run, workspace } from './command.ts'

t.test('robots prints what the policy comes to, and says what it could not say', async (t) => {
  const { config } = workspace(t, [
    'policy: { preset: observe, rules: [{ id: a, match: { path: [/x/**] }, action: block }, { id: b, match: { country: [KP] }, action: block }] }',
    'routes: [{ host: a.example, path: /y, policy: { preset: observe, default: block } }]',
  ])
  const { code, out, err } = await run('robots', '--config', config)
  t.equal(code, 0)
  t.match(out, /^# Made [^\n]*\n\nUser-agent: \*\nDisallow: \/x\$\nDisallow: \/x\?\nDisallow: \/x\/\n$/)
  t.equal(err, 'Rules that robots.txt cannot say, or not wholly: b (country)\n')
  t.match((await run('robots', '--config', config, '--host', 'a.example')).out, /Disallow: \/y\//)
  t.match(JSON.parse((await run('robots', '--json', '--config', config)).out), { text: String, unspoken: ['b'] })
})

t.test('a wish that the policy contradicts is an error of the configuration', async (t) => {
  const { config } = workspace(t, ['policy: { preset: protect-content }', 'robots: { signals: { ai-train: yes } }'])
  t.match(await run('robots', '--config', config), {
    code: 2,
    err: /:\d+: robots\.signals: .*"yes", but the policy refuses all that ask for it/,
  })
  const monitored = workspace(t, ['mode: monitor', 'policy: { preset: protect-content }'])
  t.match(await run('robots', '--config', monitored.config), {
    code: 0,
    out: /User-agent: \*\nAllow: \/\n$/,
    err: 'Monitor mode refuses nobody, so robots.txt disallows nothing.\n',
  })
})
