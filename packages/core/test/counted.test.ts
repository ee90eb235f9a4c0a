import t from 'tap'
import { counted } from '../src/counted.ts'

t.test('a count stands with its word, in the right number', async (t) => {
  t.same(
    [0, 1, 2, 12_345].map((count) => counted(count, 'line')),
    ['0 lines', '1 line', '2 lines', '12,345 lines'],
  )
  t.same(
    [1, 2].map((count) => counted(count, 'entry', 'entries')),
    ['1 entry', '2 entries'],
  )
})
