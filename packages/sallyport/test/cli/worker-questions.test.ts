import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import t from 'tap'
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

/** Three that serve; each one's answer is its name, and the primary adds the names of those that it has not heard. */
function scene() {
  const workers = ['one', 'two', 'three'].map((name) => ({ name, channel: new Channel() }))
  const relay = questionRelay((_, heard) =>
    workers.filter(({ channel }) => !heard.has(channel as unknown as Worker)).map(({ name }) => name),
  )
  for (const { channel } of workers) relay(channel as unknown as Worker)
  const [asker, ...others] = workers
  const ask = (topic: string) => asker?.channel.emit('message', { question: 'ask', id: '1.1', topic })
  const answer = (name: string) => {
    const channel = others.find((other) => other.name === name)?.channel
    channel?.emit('message', { question: 'answer', id: '1.1', answer: name })
  }
  const end = (name: string, how: 'exit' | 'disconnect') =>
    others.find((other) => other.name === name)?.channel.emit(how)
  return { ask, answer, end, answered: () => asker?.channel.sent.at(-1)?.answered }
}

for (const how of ['exit', 'disconnect'] as const) {
  t.test(`the counts of a worker that answered a scrape and then ended (${how}) are there once`, async (t) => {
    const { ask, answer, end, answered } = scene()
    ask(METRICS)
    answer('two')
    end('two', how)
    answer('three')
    t.same(answered(), { answers: ['three'], silent: 1, added: ['two'] })
  })
}

t.test('an answer about anything else stays', async (t) => {
  const { ask, answer, end, answered } = scene()
  ask('requests')
  answer('two')
  end('two', 'exit')
  answer('three')
  t.same(answered(), { answers: ['two', 'three'], silent: 0, added: [] })
})

t.test('one that ended without an answer is not waited for', async (t) => {
  const { ask, answer, end, answered } = scene()
  ask(METRICS)
  answer('three')
  end('two', 'exit')
  t.same(answered(), { answers: ['three'], silent: 1, added: ['two'] })
})
