import t from 'tap'
import { type NotifyConfig, readTarget, targetFault, targetWarning } from '../../../src/features/notify/target.ts'

t.test('the form is found by the URL, or said', async (t) => {
  const rows: readonly (readonly [url: string, form: string, as?: NotifyConfig['as']])[] = [
    ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
    ['https://discord.com/api/webhooks/1/x', 'discord'],
    ['https://canary.discord.com/api/webhooks/1/x', 'discord'],
    ['https://discord.com/other', 'json'],
    ['https://notdiscord.com/api/webhooks/1/x', 'json'],
    ['https://ntfy.sh/topic', 'ntfy'],
    ['https://ntfy.example/topic', 'ntfy'],
    ['https://alerts.example/topic', 'ntfy', 'ntfy'],
    ['https://hooks.slack.com/services/x', 'json', 'json'],
  ]
  for (const [url, form, as] of rows) {
    const target = readTarget({ url, as })
    t.same([target.form, target.name], [form, new URL(url).host], 'no secret in the name')
  }
})

t.test('a place that cannot be used is refused without its URL; a bad secret is a warning', async (t) => {
  const bad: readonly (readonly [NotifyConfig, RegExp])[] = [
    [{ url: 'nowhere' }, /is not a URL/],
    [{ url: 'ftp://files.example' }, /must be an http or https URL/],
    [{ url: 'http://hooks.example/s3cret' }, /must be https/],
    [{ url: 'http://203.0.113.0.nip.example/s3cret' }, /must be https/],
    [{ url: 'https://user:s3cret@hooks.example/' }, /a user name or password/],
    [{ url: 'smtps://gate:s3cret@mail.example/?from=a@b.example' }, /is a mail server\. Use Alertmanager/],
    [{ url: 'https://hooks.example/', secret: 'short' }, /at least 32 characters/],
  ]
  for (const [config, why] of bad) {
    const message = targetFault(config)?.message ?? ''
    t.match(message, why, config.url)
    t.notMatch(message, /s3cret/)
  }
  for (const url of ['https://hooks.example/x', 'http://127.0.0.1:9000/x', 'http://[::1]:9000/x', 'http://10.0.0.7/x'])
    t.equal(targetFault({ url, secret: 'k'.repeat(32) }), undefined, url)
  t.equal(targetFault({ url: 'https://ntfy.sh/topic', secret: 'tk_short' }), undefined)
  t.match(targetWarning({ url: 'https://hooks.example/' }), { member: 'secret', message: /is missing/ })
  const slack = { url: 'https://hooks.slack.com/services/x', secret: 'x' }
  t.match(targetWarning(slack), { message: /is not used by slack/ })
  t.equal(targetWarning({ url: 'https://hooks.example/', secret: 'k'.repeat(32) }), undefined)
  t.equal(targetWarning({ url: 'https://ntfy.sh/topic' }), undefined)
})
