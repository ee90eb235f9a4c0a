import t from 'tap'
import { type NotifyConfig, readTarget, targetFault, targetWarning } from '../../../src/features/notify/target.ts'

t.test('the form is found by the URL, or said', async (t) => {
  const readForm = (url: string, as?: NotifyConfig['as']) => readTarget({ url, as }).form
  t.equal(readForm('https://hooks.slack.com/services/T0/B0/x'), 'slack')
  t.equal(readForm('https://discord.com/api/webhooks/1/x'), 'discord')
  t.equal(readForm('https://canary.discord.com/api/webhooks/1/x'), 'discord')
  t.equal(readForm('https://discord.com/other'), 'json')
  t.equal(readForm('https://notdiscord.com/api/webhooks/1/x'), 'json')
  t.equal(readForm('https://ntfy.sh/topic'), 'ntfy')
  t.equal(readForm('https://ntfy.example/topic'), 'ntfy')
  t.equal(readForm('https://alerts.example/topic', 'ntfy'), 'ntfy')
  t.equal(readForm('https://hooks.slack.com/services/x', 'json'), 'json')
  t.equal(
    readTarget({ url: 'https://hooks.slack.com/services/T0/B0/x' }).name,
    'hooks.slack.com',
    'no secret in the name',
  )
})

t.test('what cannot be sent to is refused, and the URL is not repeated', async (t) => {
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
})

t.test('what can be is not', async (t) => {
  const good: readonly NotifyConfig[] = [
    { url: 'https://hooks.example/x', secret: 'k'.repeat(32) },
    { url: 'http://127.0.0.1:9000/x' },
    { url: 'http://[::1]:9000/x' },
    { url: 'http://10.0.0.7/x' },
    { url: 'https://ntfy.sh/topic', secret: 'tk_short' },
  ]
  for (const config of good) t.equal(targetFault(config), undefined, config.url)
})

t.test('a secret that is missing, or of no use, is a warning', async (t) => {
  t.match(targetWarning({ url: 'https://hooks.example/' }), { member: 'secret', message: /is missing/ })
  t.match(targetWarning({ url: 'https://hooks.slack.com/services/x', secret: 'x' }), {
    message: /is not used by slack/,
  })
  t.equal(targetWarning({ url: 'https://hooks.example/', secret: 'k'.repeat(32) }), undefined)
  t.equal(targetWarning({ url: 'https://ntfy.sh/topic' }), undefined)
})
