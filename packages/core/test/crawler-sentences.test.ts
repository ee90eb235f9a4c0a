import t from 'tap'
import { type CrawlerAnswer, createCrawlerAnswers } from '../src/crawler/answer.ts'
import { createCatalogue, createCrawlerVerifier, createReverseChecks } from '../src/index.ts'
import { createFakeDns, createFakeNetworks, makeAddress, makeSnapshots, makeSystem } from '../src/testing/fakes.ts'

const clock = { now: () => Date.parse('2026-11-21T00:00:00Z') }
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
  const { summary } = await answerTo('yandexbot', '8.3.1.1')
  t.match(summary, 'YandexBot of Yandex, verified. 8.3.1.1 is in AS13238, which Yandex alone uses.')
  const beside = '8.1.1.1 is in AS7922, not in AS13238 or AS208722, which Yandex alone uses.'
  t.match((await answerTo('yandexbot')).summary, beside)
})

t.test('unknown facts are not said of the operator', async (t) => {
  const whatsapp = await answerTo('whatsapp')
  t.match(whatsapp.summary, 'Its operator publishes nothing that could verify the claim.')
  t.equal(findDetail(whatsapp, 'published ranges'), 'No list of the ranges of WhatsApp is known.')
  // Meta has a network of its own.
  t.equal(findDetail(whatsapp, 'operator ASN'), 'No network is known to belong to WhatsApp alone.')
  t.equal(findDetail(whatsapp, 'reverse DNS'), 'No reverse name of WhatsApp is known.')
  t.match(findDetail(await answerTo('updown'), 'published ranges'), 'updown.io publishes for updown.io is not loaded.')
})
