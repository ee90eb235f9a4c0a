import { createServer } from 'node:http'
import type { ConfigInput } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { FRAMEWORKS, type Handler, honoApp } from './frameworks.ts'
import { exchange, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A handler may throw what is no Error: its request has ended then, for rules that count what is in flight and for the log. */
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'one', match: { path: ['/export'] }, concurrent: 1, action: 'block' }],
} satisfies ConfigInput['policy']

const THROWN: readonly unknown[] = ['x', undefined, null, 0, { status: 418 }, new Error('made')]

/** Has each value thrown and rejected by a handler, and checks the first line or status of each answer. */
async function throwAll(t: Test, ask: () => Promise<string>, thrown: { value?: unknown; rejects?: boolean }) {
  for (const value of THROWN) {
    for (const rejects of [false, true]) {
      Object.assign(thrown, { value, rejects })
      t.match(await ask(), /^(?:HTTP\/1\.1 )?(?!403)[45]\d\d/, `${String(value)}, ${rejects ? 'rejected' : 'thrown'}`)
    }
  }
}

const thrown: { value?: unknown; rejects?: boolean } = {}
const fails: Handler = () => {
  if (thrown.rejects) return Promise.reject(thrown.value)
  throw thrown.value
}

for (const [name, create] of Object.entries(FRAMEWORKS)) {
  t.test(name, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY })
    const port = await listening(t, createServer(await create(sallyport, fails)))
    await throwAll(t, () => exchange(port, requestBytes('GET', '/export', ['Connection', 'close'])), thrown)
  })
}

t.test('Hono in another runtime', async (t) => {
  const app = honoApp(await openWithoutData(t, { policy: POLICY }), fails)
  const ask = async () =>
    String(
      await Promise.resolve(app.request('/export'))
        .then(({ status }) => status)
        .catch(() => 500),
    )
  await throwAll(t, ask, thrown)
})
