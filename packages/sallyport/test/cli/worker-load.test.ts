import t from 'tap'
import { shareLoad } from '../../src/cli/workers/worker-load.ts'

t.test('a worker whose rules read the load hears of the highest of the others', async (t) => {
  const topics: string[] = []
  const others = {
    async ask(topic: string) {
      topics.push(topic)
      return { answers: [0.2, 0.9, undefined, 'x'], silent: 1 }
    },
  }
  let isAsked = false
  const heard = new Promise<number>((resolve) => {
    const end = shareLoad({ isAsked: true, takeOthers: resolve } as never, others)
    t.teardown(end)
  })
  const quiet = shareLoad(
    {
      get isAsked() {
        isAsked = true
        return false
      },
      takeOthers: () => t.fail('nobody asks'),
    } as never,
    { ask: async () => t.fail('nobody asks') as never },
  )
  t.teardown(quiet)
  const alive = setInterval(() => {}, 1_000)
  t.equal(await heard, 0.9)
  while (!isAsked) await new Promise((resolve) => setTimeout(resolve, 20))
  clearInterval(alive)
  t.same([...new Set(topics)], ['load'])
})
