import { execFileSync } from 'node:child_process'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { ofTurn } from './turn.ts'

const FIFTHS = ['1/5', '2/5', '3/5', '4/5', '5/5']

t.test('the five parts have each long test once', async (t) => {
  const long = execFileSync('git', ['ls-files', '*.long.test.ts'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const turns = FIFTHS.map((turn) => ofTurn(long, turn))
  t.ok(long.length > 50, `${long.length} files`)
  t.same(turns.flat().sort(), ofTurn(long, '1/1'))
  const sizes = turns.map(({ length }) => length)
  t.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, sizes.join())
})

t.test('a turn that is none is an error', async (t) => {
  for (const turn of ['6/5', '0/5', '1', '', '1/5 ', 'a/b', '1/100']) {
    t.throws(() => ofTurn([1], turn), { message: `TURN=${turn} is none: 1/5 to 5/5, say` }, turn)
  }
})
