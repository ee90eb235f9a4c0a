import { parseAddress } from '@sallyport/core'
import { createFakeDns } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createConnect } from '#net'
import { testNotifications } from '../../src/open/notify/notifications.ts'
import { makeCertificate, NO_OPENSSL } from '../net/certificate.ts'
import { DOWN, openPlaces, portsOf } from './events.ts'
import { openSmtpServer } from './smtp-server.ts'

const PARAMETERS = '/?from=gate@shop.example&to=ops@shop.example,second@shop.example'

const settled = async (outcomes: readonly string[]): Promise<void> => {
  while (outcomes.length === 0) await new Promise((resolve) => setImmediate(resolve))
}

/** Connections to a server under a name; `allowed`: its address is one of net.allowPrivate. */
function named(t: Test, allowPrivate = ['127.0.0.0/8']) {
  const { key, cert } = makeCertificate(t, 'mail.example')
  const loopback = parseAddress('127.0.0.1')
  const dns = createFakeDns({ 'mail.example': { state: 'found', addresses: loopback ? [loopback] : [] } })
  return { tls: { key, cert }, ports: { connect: createConnect({ dns, allowPrivate }), ca: cert } }
}

t.test('a mail goes to all who are named, without TLS to what is inside alone', async (t) => {
  const { port, mails } = await openSmtpServer(t)
  const { raise, outcomes, notices } = await openPlaces(t, [{ url: `smtp://127.0.0.1:${port}${PARAMETERS}` }])
  raise(DOWN)
  await settled(outcomes)
  t.same([outcomes, notices], [['origin sent'], []])
  const [mail] = mails
  t.match(mail, { from: '<gate@shop.example>', to: ['<ops@shop.example>', '<second@shop.example>'], secured: false })
  t.match(mail?.text, /^Subject: Sallyport on .+: origin down\r$/m)
  t.match(mail?.text, /^Auto-Submitted: auto-generated\r$/m)
  t.match(mail?.text, DOWN.text)
  t.equal(mail?.login, undefined)
})

t.test('STARTTLS and a login, whose certificate has to be of the name', { skip: NO_OPENSSL }, async (t) => {
  const { tls, ports } = named(t)
  const { port, mails } = await openSmtpServer(t, { tls })
  const url = `smtp://gate%40shop.example:p%25s3cret@mail.example:${port}${PARAMETERS}`
  const { raise, outcomes } = await openPlaces(t, [{ url }], ports)
  raise(DOWN)
  await settled(outcomes)
  t.same(outcomes, ['origin sent'])
  t.match(mails, [{ secured: true, login: 'gate@shop.example:p%s3cret' }])

  const strange = await openPlaces(t, [{ url }], {
    ...ports,
    ca: makeCertificate(t, 'mail.example').cert,
    pausesMs: [],
  })
  strange.raise(DOWN)
  await settled(strange.outcomes)
  t.same([strange.outcomes, mails.length], [['origin failed'], 1], 'a certificate that nobody vouches for')
  t.notMatch(strange.notices.join(), /s3cret/)
})

t.test('TLS from the beginning', { skip: NO_OPENSSL }, async (t) => {
  const { tls, ports } = named(t)
  const { port, mails } = await openSmtpServer(t, { tls, implicit: true })
  const { raise, outcomes } = await openPlaces(t, [{ url: `smtps://mail.example:${port}${PARAMETERS}` }], ports)
  raise(DOWN)
  await settled(outcomes)
  t.match(mails, [{ secured: true, login: undefined }])
})

t.test('to what is not inside nothing is sent without TLS', async (t) => {
  const { port, mails, commands } = await openSmtpServer(t)
  const { connect } = portsOf().ports
  const outside = {
    connect: async (...to: Parameters<typeof connect>) => ({ ...(await connect(...to)), allowed: false }),
  }
  const url = `smtp://gate:s3cret@127.0.0.1:${port}${PARAMETERS}`
  const { raise, outcomes, notices } = await openPlaces(t, [{ url }], { ...outside, pausesMs: [] })
  raise(DOWN)
  await settled(outcomes)
  t.same([outcomes, mails], [['origin failed'], []])
  t.notOk(commands.includes('AUTH') || commands.includes('MAIL'), 'no password, no mail')
  t.match(notices, [/STARTTLS|TLS/])
})

t.test('an address inside is not reached unless it is permitted', async (t) => {
  const { port, commands } = await openSmtpServer(t)
  const connect = createConnect({ dns: createFakeDns({}) })
  const url = `smtp://127.0.0.1:${port}${PARAMETERS}`
  const [tested] = await testNotifications([{ url }], { ...portsOf().ports, connect })
  t.match(tested, { sent: false, form: 'mail', answer: /127\.0\.0\.1 is not a public address/ })
  t.same(commands, [])
})

t.test('a test says what the server answered', async (t) => {
  const { port } = await openSmtpServer(t)
  const refusing = await openSmtpServer(t, { recipient: '550 no such mailbox' })
  const places = [port, refusing.port].map((port) => ({ url: `smtp://127.0.0.1:${port}${PARAMETERS}` }))
  const tested = await testNotifications(places, portsOf().ports)
  t.match(tested, [
    { place: `127.0.0.1:${port}`, sent: true, answer: '250 taken as 4711' },
    { sent: false, answer: /550 no such mailbox/ },
  ])
})
