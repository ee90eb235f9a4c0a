import type { FetchRequest } from '@sallyport/core'
import t from 'tap'
import { createPoliteFetch } from '../../src/net/index.ts'
import { createPoliteness } from '../../src/net/politeness.ts'

t.test('questions to one server are kept apart, those to others are not held up', async (t) => {
  const { turn } = createPoliteness({ burst: 1, spacingMs: 50, maxWaitMs: 1_000 })
  const order: string[] = []
  await Promise.all([
    ...[1, 2, 3].map(async (number) => {
      await turn('one.example')
      order.push(`one ${number}`)
    }),
    turn('other.example').then(() => order.push('other')),
  ])
  t.strictSame(order.toSorted(), ['one 1', 'one 2', 'one 3', 'other'])
  t.ok(order.indexOf('other') < order.indexOf('one 2'))
})

t.test('a question that would wait too long is not put at all', async (t) => {
  const { turn } = createPoliteness({ burst: 3, spacingMs: 60_000, maxWaitMs: 1_000 })
  for (const _ of [1, 2, 3]) await turn('one.example')
  await t.rejects(turn('one.example'), { message: 'too many questions to one.example' })
  await turn('other.example')
})

t.test('servers in their thousands do not make it grow without end', async (t) => {
  const { turn } = createPoliteness({ burst: 1, spacingMs: 60_000, maxWaitMs: 0 })
  for (let index = 0; index < 4_096; index++) await turn(`${index}.example`)
  await t.rejects(turn('one-more.example'), { message: /too many questions/ })
})

t.test('HTTP keeps its hosts apart, and the wait is taken from the time of the request', async (t) => {
  const asked: FetchRequest[] = []
  const outbound = createPoliteFetch(
    {
      async fetch(request) {
        asked.push(request)
        return { state: 'failed', reason: 'asked' }
      },
    },
    { burst: 1, spacingMs: 50, maxWaitMs: 60 },
  )
  const request = { url: 'https://rdap.example/domain/a', maxBytes: 1, timeoutMs: 60_000 }
  const reasons = await Promise.all(
    [1, 2, 3].map(async () => {
      const answer = await outbound.fetch(request)
      return answer.state === 'failed' ? answer.reason : ''
    }),
  )
  t.strictSame(reasons, ['asked', 'asked', 'too many questions to rdap.example'])
  t.ok((asked[1]?.timeoutMs ?? 0) < 60_000)
  const hasty = await Promise.all(
    [1, 2].map(() => outbound.fetch({ ...request, url: 'https://b.example/', timeoutMs: 40 })),
  )
  t.match(hasty, [{ reason: 'asked' }, { reason: 'no time left' }])
})
