import t from 'tap'
import { groupSources } from './files.ts'

t.test('nothing is in two groups', async (t) => {
  const sources = ['test/runner/files.test.ts', 'test/runner/turn.test.ts']
  const groups = groupSources(sources)
  const built = sources.map((path) => path.replace(/^test\/(.*)ts$/, 'test/dist/$1js'))
  t.same(Object.fromEntries(groups.map(({ name, files }) => [name, files])), { test: built })
})
