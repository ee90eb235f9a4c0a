import t from 'tap'
import { groupsOf } from './files.ts'

t.test('what changes its process has one of its own, and nothing is in two', async (t) => {
  const [alone = '', ...others] = [
    'test/hosts/restify.alone.long.test.ts',
    'test/runner/files.test.ts',
    'test/runner/turn.test.ts',
  ]
  const groups = groupsOf([alone, ...others])
  const built = (paths: readonly string[]) => paths.map((path) => path.replace(/^test\/(.*)ts$/, 'test/dist/$1js'))
  t.same(Object.fromEntries(groups.map(({ name, files }) => [name, files])), {
    'test hosts/restify.alone.long.test.ts': built([alone]),
    test: built(others),
  })
})
