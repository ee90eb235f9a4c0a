import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, workspace } from './command.ts'
import { openWebhook } from './webhook.ts'

const PAGE = join(import.meta.dirname, '../../../docs/run.md')

/** The program of the page that verifies a signature. */
async function verifier(folder: string) {
  const [, program = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(PAGE, 'utf8')) ?? []
  const file = join(folder, 'verifier.mjs')
  writeFileSync(file, program)
  const { isFromSallyport } = await import(pathToFileURL(file).href)
  return isFromSallyport as (headers: object, body: string, secret: string, now?: number) => boolean
}

t.test('notify test sends to each place, and the program of the page verifies what came', async (t) => {
  const [plain, prefixed] = ['a secret of thirty-two characters', `whsec_${Buffer.alloc(32, 7).toString('base64')}`]
  const [one, other, gone] = [await openWebhook(t), await openWebhook(t), await freePort()]
  const { command, object, folder } = workspace(t, [
    'net: { allowPrivate: [127.0.0.0/8] }',
    'notify:',
    `  - { url: "${one.url}", secret: "${plain}" }`,
    `  - { url: "${other.url}", secret: "${prefixed}", on: [ledger, ban] }`,
    `  - { url: "http://127.0.0.1:${gone}/s3cret", as: slack }`,
  ])
  const { code, out } = await command('notify', 'test')
  t.equal(code, 1, 'one was not reached')
  t.match(out, /^sent +json +127\.0\.0\.1:\d+ +all +200$/m)
  t.match(out, /^sent +json +127\.0\.0\.1:\d+ +ban, ledger +200$/m)
  t.match(out, new RegExp(`^failed +slack +127\\.0\\.0\\.1:${gone} +all +ECONNREFUSED$`, 'm'))
  t.notMatch(out, /s3cret|hook/)

  const verify = await verifier(folder)
  for (const [hook, secret] of [
    [one, plain],
    [other, prefixed],
  ] as const) {
    const [posted] = hook.posted
    t.match(posted?.message, { kind: 'test', leftOut: 0 })
    const { headers = {}, body = '' } = posted ?? {}
    t.equal(verify(headers, body, secret), true)
    t.equal(verify(headers, `${body} `, secret), false, 'another body')
    t.equal(verify(headers, body, `${secret}x`.replace('BwcH', 'BwcI')), false, 'another secret')
    t.equal(verify(headers, body, secret, Date.now() + 301_000), false, 'an old one')
    t.equal(verify({}, body, secret), false)
  }
  const asJson = await object('notify', 'test')
  t.match(asJson, [{ form: 'json', sent: true, answer: '200' }, { sent: true }, { form: 'slack', sent: false }])
})

t.test('without a place there is nothing to test; faults are named, and neither URL nor secret is shown', async (t) => {
  t.match(await workspace(t).command('notify', 'test'), { code: 2, err: /no webhook is configured/ })
  const { config } = workspace(t, [
    'notify:',
    '  - { url: "http://hooks.example/s3cret" }',
    '  - { url: "https://hooks.example/", secret: short }',
    '  - { url: "https://hooks.example/other", on: [bans] }',
  ])
  const { code, out, err } = await run('config', 'check', config)
  t.equal(code, 2)
  t.match(`${out}${err}`, /notify\.0\.url: must be https/)
  t.match(`${out}${err}`, /notify\.1\.secret: must have at least 32 characters/)
  t.match(`${out}${err}`, /notify\.2\.on\.0: "bans" is unknown; did you mean "ban"\?/)
  const { command } = workspace(t, [
    'notify: [{ url: "https://a.example/s3cret", secret: "s3cret of thirty-two characters!!" }]',
  ])
  const shown = await command('config', 'show')
  t.match(shown, { code: 0, out: /notify/ })
  t.notMatch(`${out}${err}${shown.out}`, 's3cret')
})
