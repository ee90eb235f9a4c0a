import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tracked } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'

/* Files of tests run beside each other in processes that they share, so a test must not rely on the time of the machine. */
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

t.test('a proxy of a test is not shed when the machine is late', async (t) => {
  const files = tracked('test/*.ts', 'adapters/*/test/*.ts', 'packages/*/test/*.ts')
  const opening = files.filter((path) => /\bopenProxy\(/.test(read(path)))
  t.ok(opening.length > 10, `${opening.length} files are read`)
  // The tests of shedding set a bound of their own.
  const unbound = opening.filter((path) => !/eventLoopDelay|proxyBefore/.test(read(path)))
  t.same(unbound, ['test/packaging/types.ts'], 'but for one that is compiled alone')
})

t.test('a file of tests sets no time for the others of its process', async (t) => {
  const timed = tracked('*.test.ts').filter((path) => /^t\.setTimeout/m.test(read(path)))
  t.same(timed, [], 'the runner ends what hangs')
})
