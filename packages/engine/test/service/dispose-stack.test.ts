import t from 'tap'
import { createDisposeStack } from '../../src/service/dispose-stack.ts'

t.test('what was opened is closed in reverse order, all of it, and once', async (t) => {
  const { use, dispose } = createDisposeStack()
  const closed: string[] = []
  for (const name of ['first', 'second', 'third']) {
    await use({
      async close() {
        closed.push(name)
        if (name !== 'first') throw new Error(name)
      },
    })
  }
  await t.rejects(dispose(), { message: 'third' }, 'the first error is said')
  t.same(closed, ['third', 'second', 'first'])
  await dispose()
  t.equal(closed.length, 3)
})
