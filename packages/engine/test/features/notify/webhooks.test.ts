import type { FetchRequest } from '@sallyport/core'
import { createFakeDns } from '@sallyport/core/testing'
import t from 'tap'
import { createFetch } from '#net'
import { signBody } from '../../../src/features/notify/forms.ts'
import { until } from '../../open/opened.ts'
import { DOWN, openHook, openPlaces, UP } from './events.ts'

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

t.test('each form says what its receiver reads', async (t) => {
  const [slack, discord, ntfy] = [await openHook(t), await openHook(t), await openHook(t)]
  const { raise, outcomes } = await openPlaces(t, [
    { url: slack.url, as: 'slack' },
    { url: discord.url, as: 'discord' },
    { url: ntfy.url, as: 'ntfy', secret: 'tk_example' },
  ])
  raise({ ...DOWN, text: 'The origin <http://a&b> is down.' })
  t.match(await slack.message(1), {
    text: /^\*Sallyport on .+: origin down\*\nThe origin &lt;http:\/\/a&amp;b&gt; is down\.$/,
  })
  t.match(await discord.message(1), {
    content: /^\*\*Sallyport on .+: origin down\*\*\nThe origin <http:\/\/a&b> is down\.$/,
    allowed_mentions: { parse: [] },
  })
  const [toNtfy] = await ntfy.received(1)
  t.equal(toNtfy?.body, 'The origin <http://a&b> is down.')
  t.match(toNtfy?.request.headers, { title: /: origin down$/, tags: 'warning', authorization: 'Bearer tk_example' })
  for (const [one] of [slack.posted, discord.posted]) {
    t.match(one?.request, { method: 'POST', headers: { 'content-type': 'application/json' } })
  }
  raise(UP)
  const [, second] = await ntfy.received(2)
  t.match(second?.request.headers, { title: /: origin is up again$/, tags: 'white_check_mark' })
  await until(() => outcomes.length >= 6)
  t.same(new Set(outcomes), new Set(['origin sent']))
})

t.test('JSON is signed as Standard Webhooks says', async (t) => {
  // The specification's own libraries have this example.
  const [id, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}']
  t.same(signBody(id, body, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 1_614_265_330_000), {
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })

  const hook = await openHook(t)
  const { raise } = await openPlaces(t, [{ url: hook.url, secret: SECRET }])
  raise({ ...DOWN, details: { origin: DOWN.about } })
  const [posted] = await hook.received(1)
  const { headers } = posted?.request ?? {}
  const now = Number(headers?.['webhook-timestamp']) * 1_000
  t.match(signBody(String(headers?.['webhook-id']), posted?.body ?? '', SECRET, now), {
    'webhook-signature': headers?.['webhook-signature'],
  })
  const message = JSON.parse(posted?.body ?? '')
  t.match(message, { kind: 'origin', about: DOWN.about, text: DOWN.text, leftOut: 0, details: { origin: DOWN.about } })
  t.equal(message.id, headers?.['webhook-id'])
  t.notOk('over' in message)
  t.ok(Math.abs(Date.parse(message.time) - now) < 60_000)
})

t.test('a place has the events that it asks for', async (t) => {
  const [some, all] = [await openHook(t), await openHook(t)]
  const { raise } = await openPlaces(t, [{ url: some.url, on: ['ledger'] }, { url: all.url }])
  raise(DOWN)
  raise({ kind: 'ledger', about: 'records', text: 'The ledger stores no records.' })
  await all.received(2)
  t.match(await some.message(1), { kind: 'ledger' })
  t.equal(some.posted.length, 1)
})

t.test('a server that fails is asked again, and the same is sent', async (t) => {
  const hook = await openHook(t, [500, { status: 429, retryAfter: 0 }])
  const { raise, notices, outcomes } = await openPlaces(t, [{ url: hook.url }], { pausesMs: [1, 1, 1] })
  raise(DOWN)
  const posted = await hook.received(3)
  const ids = new Set(posted.map(({ request }) => request.headers['webhook-id']))
  t.equal(ids.size, 1, 'a receiver can tell that it is the same')
  await until(() => outcomes.length > 0)
  t.same([outcomes, notices], [['origin sent'], []])
})

t.test('a failure is said once, until the place is reached again', async (t) => {
  const hook = await openHook(t, [404, 500, 500, 410])
  const { raise, notices, outcomes } = await openPlaces(t, [{ url: hook.url }], { pausesMs: [1] })
  for (const about of ['a', 'b', 'c', 'd']) raise({ ...DOWN, about })
  await hook.received(5)
  await until(() => outcomes.length >= 4)
  t.same(outcomes, ['origin failed', 'origin failed', 'origin failed', 'origin sent'])
  t.equal(notices.length, 2)
  t.match(notices[0], /^notify: the notification \(origin\) could not be sent to 127\.0\.0\.1:\d+: .+ is 404$/)
  t.match(notices[1], /can be reached again$/)
  t.notMatch(notices.join(), /hook/, 'no path of a URL, which is a secret')
})

t.test('a place that cannot be reached is named with the reason', async (t) => {
  const hook = await openHook(t)
  const closed = { fetch: createFetch({ dns: createFakeDns({}) }), pausesMs: [] }
  const { raise, notices } = await openPlaces(t, [{ url: hook.url }], closed)
  raise(DOWN)
  await until(() => notices.length > 0)
  t.match(notices, [/127\.0\.0\.1 is not a public address/])
  t.equal(hook.posted.length, 0)
})

t.test('what waits for a place is bounded, and the oldest makes room', async (t) => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const asked: string[] = []
  const fetch = {
    fetch: async ({ body }: FetchRequest) => {
      asked.push(JSON.parse(body !== undefined && 'text' in body ? body.text : '{}').about)
      await held
      return { state: 'answered', status: 200, headers: {}, body: nothing() } as const
    },
  }
  const { raise, outcomes } = await openPlaces(t, [{ url: 'https://hooks.example/' }], { fetch })
  for (let at = 0; at < 60; at++) raise({ ...DOWN, about: `origin ${at}` })
  t.same(outcomes, Array(9).fill('origin dropped'))
  release()
  await until(() => outcomes.length >= 60)
  t.same([asked.length, asked[0], asked[1], asked.at(-1)], [51, 'origin 0', 'origin 10', 'origin 59'])
})

async function* nothing(): AsyncGenerator<Uint8Array> {}

t.test('a reload keeps what was sent: nothing is sent twice, and another place has what comes', async (t) => {
  const [first, second] = [await openHook(t), await openHook(t)]
  const { raise, prepare } = await openPlaces(t, [{ url: first.url }])
  raise(DOWN)
  await first.received(1)
  prepare({ notify: [{ url: first.url }, { url: second.url }] })()
  raise(DOWN)
  raise(UP)
  t.match(await second.message(1), { text: UP.text })
  t.equal((await first.received(2)).length, 2)
  t.equal(second.posted.length, 1)
})
