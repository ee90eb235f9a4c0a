import t from 'tap'
import { parseTrust } from '../src/address/client.ts'
import { type CrawlerAnswer, createCrawlerAnswers } from '../src/crawler/answer.ts'
import { createCatalogue } from '../src/crawler/catalogue.ts'
import { createReverseChecks } from '../src/crawler/reverse-checks.ts'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { createInspector } from '../src/inspection/inspector.ts'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import {
  createFakeClock,
  createFakeDns,
  createFakeNetworks,
  makeAddress,
  makeSnapshots,
  makeSystem,
} from '../src/testing/fakes.ts'

/* Sentences for people say no more than is known. */

const clock = createFakeClock('2026-11-21T00:00:00Z')
const crawlers = createCrawlerVerifier(createCatalogue(), {
  reverse: createReverseChecks({ clock, dns: createFakeDns({}) }),
})
const snapshots = makeSnapshots({
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: makeSystem({ asn: 7922 }) }],
    ['8.3.0.0/16', { system: makeSystem({ asn: 13_238 }) }],
  ]),
})
const answers = createCrawlerAnswers(crawlers, { clock, snapshots })

async function answerTo(bot: string, ip = '8.1.1.1') {
  return answers.verify(makeAddress(ip), { bot })
}

const findDetail = ({ checks }: CrawlerAnswer, name: string) => checks.find((check) => check.name === name)?.detail

t.test('an operator’s network is named, and the address in it or beside it', async (t) => {
  t.equal(
    (await answerTo('yandexbot', '8.3.1.1')).summary,
    'The client is YandexBot of Yandex, verified. 8.3.1.1 is in AS13238, which Yandex alone uses.',
  )
  t.equal(
    (await answerTo('yandexbot')).summary,
    'The client is not YandexBot of Yandex: every check that could run refutes the claim. ' +
      '8.1.1.1 is in AS7922, not in AS13238 or AS208722, which Yandex alone uses.',
  )
})

t.test('unknown facts are not said of the operator', async (t) => {
  const whatsapp = await answerTo('whatsapp')
  t.equal(
    whatsapp.summary,
    'The client claims to be WhatsApp. Its operator publishes nothing that could verify the claim.',
  )
  t.equal(findDetail(whatsapp, 'published ranges'), 'No list of the ranges of WhatsApp is known.')
  t.equal(
    findDetail(whatsapp, 'operator ASN'),
    'No network is known to belong to WhatsApp alone.',
    'Meta has one of its own',
  )
  t.equal(findDetail(whatsapp, 'reverse DNS'), 'No reverse name of WhatsApp is known.')
  t.equal(
    findDetail(await answerTo('updown'), 'published ranges'),
    'The list of the ranges that updown.io publishes for updown.io is not loaded.',
  )
})

t.test('without an address a name that is never sent is refuted, and no other', async (t) => {
  const inspector = createInspector({
    clock,
    snapshots,
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'low-friction', rules: [] }),
    mode: 'enforce',
    crawlers,
  })
  const told = (userAgent: string) =>
    inspector.inspect({
      peer: '',
      method: 'GET',
      target: '/',
      scheme: 'http',
      httpVersion: '1.1',
      fields: ['User-Agent', userAgent],
    }).crawler
  t.match(told('Google-Extended'), { outcome: 'spoofed', method: 'catalogue' })
  t.match(told('Googlebot/2.1'), {
    outcome: 'unverifiable',
    pending: false,
    summary:
      'The client claims to be Googlebot. The claim is neither confirmed nor refuted, because the visitor’s address is not known.',
  })
})
