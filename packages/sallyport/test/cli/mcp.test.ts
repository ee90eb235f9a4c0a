import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, workspace } from './command.ts'

const RULE = '{ id: no-delete, match: { path: [/mcp], mcp: { name: [delete] } }, action: block }'
const LINES = ['policy:', '  preset: observe', `  rules: [${RULE}]`]
const ASKED = { ip: '203.0.114.7', method: 'POST', path: '/mcp' }

t.test('explain judges the calls that a request is described with', async (t) => {
  const { command, write } = workspace(t, LINES)
  const explain = async (request: object) => command('explain', write('request.json', request))
  const blocked = await explain({ ...ASKED, mcp: ['tools/call search', 'tools/call delete'] })
  t.match(blocked.out, /calls +tools\/call search, tools\/call delete/)
  t.match(blocked.out, 'The policy\'s rule "no-delete" matches.')
  t.notMatch((await explain({ ...ASKED, mcp: ['tools/call search'] })).out, 'no-delete')
  t.match((await explain(ASKED)).out, /not judged +.*no-delete.*mcp/, 'a POST of which nobody says what it calls')
  t.notMatch((await explain({ ...ASKED, method: 'GET' })).out, 'not judged')
  t.match(await explain({ ...ASKED, mcp: 'tools/call' }), { code: 1, err: /mcp: expected array/ })
  t.match(await explain({ ...ASKED, mcp: [7] }), { code: 1, err: /mcp\.0: expected string/ })
})

t.test('replay judges the calls of the decision log', async (t) => {
  const { folder, config } = workspace(t)
  const line = (mcp?: readonly string[]) =>
    JSON.stringify({
      time: '2026-11-25T02:40:00.000Z',
      requestId: 'a',
      action: 'allow',
      client: '203.0.114.7',
      method: 'POST',
      host: 'site.example',
      path: '/mcp',
      userAgent: 'client/1.0',
      status: 200,
      milliseconds: 1,
      answeredBy: 'origin',
      mcp,
    })
  const log = join(folder, 'decisions.log')
  writeFileSync(log, `${[line(['tools/call delete']), line(['tools/call search']), line()].join('\n')}\n`)
  const policy = join(folder, 'new.yaml')
  writeFileSync(policy, `preset: observe\nrules: [${RULE}]\n`)
  const { code, out } = await run('replay', log, '--policy', policy, '--json', '--config', config)
  t.equal(code, 0, out)
  t.match(JSON.parse(out), {
    requests: 3,
    classes: [{ after: { allow: 2, block: 1 } }],
    unjudged: [{ rule: 'no-delete', requests: 1, words: ['mcp'] }],
  })
})

t.test('config check names a method that is misspelt, and a rule without paths', async (t) => {
  const { command } = workspace(t, [
    'policy:',
    '  rules:',
    '    - { id: call, match: { mcp: { method: [tool/call] } }, action: block }',
    '    - { id: fine, match: { path: [/mcp], mcp: { method: ["tools/*"] } }, action: block }',
  ])
  const { code, out, err } = await command('config', 'check')
  t.equal(code, 0)
  t.match(out + err, 'no MCP method matches "tool/call"; did you mean "tools/call"?')
  t.match(out + err, 'the rule reads every JSON body of a POST')
  t.notMatch(out + err, 'fine')
})
