import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { serve, visit, workspace } from './command.ts'

const writeRule = (id: string) => `rules: [{ id: ${id}, match: { path: [/${id}] }, action: block }]`

t.test('saves of a policy do not overwrite each other, and the trail says what each changed', async (t) => {
  const { config } = workspace(t, ['admin: 127.0.0.1:0', `policy: { ${writeRule('old')} }`])
  const { admin, token } = await serve(t, config)
  const ask = async (path: string, body?: object, fields: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...fields }
    const answer = await visit(`${admin}/console/api/${path}`, headers, body && JSON.stringify(body))
    return { status: answer.status, etag: answer.headers.etag, body: JSON.parse(answer.text) }
  }
  const { etag, body } = await ask('policy')
  t.equal(body.etag, etag)
  const untagged = await ask('policy/save', { text: writeRule('untagged') })
  t.same([untagged.status, untagged.body.error], [428, 'edit_untagged'])
  t.notMatch(readFileSync(config, 'utf8'), 'untagged')
  const names = ['one', 'two', 'three']
  const saves = await Promise.all(names.map((name) => ask('policy/save', { text: writeRule(name), etag })))
  t.same(saves.map(({ status }) => status).toSorted(), [200, 409, 409])
  t.match(saves.find(({ status }) => status === 409)?.body, { error: 'edit_conflict' })
  const won = names[saves.findIndex(({ status }) => status === 200)] ?? ''
  t.match(readFileSync(config, 'utf8'), `id: ${won}`)
  const { actions } = (await ask('audit')).body
  const details = { rules: 1, added: [won], removed: ['old'], changed: [], keys: [], from: etag }
  const saved = actions.find(({ audit }: { audit: string }) => audit === 'policy save')
  t.match(saved, { who: 'console admin', details })

  t.equal((await ask('policy/save', { text: writeRule(won) }, { 'if-match': '*' })).status, 200, 'which replaces any')
  const now = (await ask('policy')).etag ?? ''
  t.equal((await ask('policy/save', { text: writeRule('late') }, { 'if-match': String(etag) })).status, 409)
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(won, 'by-hand'))
  const late = await ask('policy/save', { text: writeRule('late') }, { 'if-match': now })
  t.equal(late.status, 409, 'nor what is not in force yet')
  t.match(readFileSync(config, 'utf8'), 'id: by-hand')
})
