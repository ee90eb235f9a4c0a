import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import t from 'tap'
import { shareLoad } from '../../src/cli/workers/shared-state.ts'
import { METRICS, questionRelay } from '../../src/cli/workers/worker-questions.ts'

/** A worker's end of its channel, and what it was sent. */
class Channel extends EventEmitter {
  readonly sent: { readonly question: string; readonly id: string; readonly answered?: unknown }[] = []
  isConnected(): boolean {
    return true
  }
  send(message: Channel['sent'][number]): boolean {
    this.sent.push(message)
    return true
  }
}

t.test('the counts of a worker that ended are there once, and its other answers stay', async (t) => {
  const two = { answers: ['three'], silent: 1, added: ['two'] }
  for (const [topic, order, expected] of [
    [METRICS, ['two', 'exit', 'three'], two],
    [METRICS, ['two', 'disconnect', 'three'], two],
    [METRICS, ['three', 'exit'], two],
    ['requests', ['two', 'exit', 'three'], { answers: ['two', 'three'], silent: 0, added: [] }],
  ] as const) {
    const workers = ['one', 'two', 'three'].map((name) => ({ name, channel: new Channel() }))
    // The primary adds the names of the workers that it has not heard.
    const relay = questionRelay((_, heard) =>
      workers.filter(({ channel }) => !heard.has(channel as unknown as Worker)).map(({ name }) => name),
    )
    for (const { channel } of workers) relay(channel as unknown as Worker)
    const [one, two, three] = workers.map(({ channel }) => channel)
    one?.emit('message', { question: 'ask', id: '1.1', topic })
    for (const step of order) {
      const message = { question: 'answer', id: '1.1', answer: step }
      if (step === 'two') two?.emit('message', message)
      else if (step === 'three') three?.emit('message', message)
      else two?.emit(step)
    }
    t.same(one?.sent.at(-1)?.answered, expected, `${topic}: ${order.join(', ')}`)
  }
})

t.test('a worker whose rules read the load hears of the highest of the others', async (t) => {
  const topics: string[] = []
  const answers = [0.2, 0.9, undefined, 'x']
  const others = { ask: async (topic: string) => ({ answers: topics.push(topic) > 0 ? answers : [], silent: 1 }) }
  let isAsked = false
  const heard = new Promise<number>((resolve) => {
    t.teardown(shareLoad({ isAsked: true, takeOthers: resolve } as never, others))
  })
  const quiet = {
    get isAsked() {
      isAsked = true
      return false
    },
  }
  t.teardown(shareLoad(quiet as never, { ask: async () => t.fail('nobody asks') as never }))
  const alive = setInterval(() => {}, 1_000)
  t.equal(await heard, 0.9)
  while (!isAsked) await new Promise((resolve) => setTimeout(resolve, 20))
  clearInterval(alive)
  t.same([...new Set(topics)], ['load'])
})
