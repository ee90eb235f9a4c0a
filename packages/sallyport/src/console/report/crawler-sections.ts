import { counted } from '@sallyport/core'
import type { CrawlerReport, OperatorReading } from '@sallyport/engine'
import { moment, number, percent, size, span, trend } from './figures.ts'
import { makeTable, type Section, tableSection } from './section.ts'

const MAX_OPERATORS = 12
const MAX_PATHS = 8

/** Names an operator by what was proved: an unproven claim is shown as a claim. */
function operatorName({ operator, claim }: Pick<OperatorReading, 'operator' | 'claim'>): string {
  if (claim === 'verified') return operator
  return claim === 'spoofed' ? `impersonates ${operator}` : `claims to be ${operator}`
}

/** Writes sections about what AI and crawlers read, whether they obeyed the rules, and the visitors that they sent. */
export function crawlerSections(report: CrawlerReport): readonly Section[] {
  const { operators, referrals, offers, from, until, requests, pages, bytes } = report
  const when = `${span(from, until)}, ${moment(from)} to ${moment(until)} UTC`
  if (requests === 0 && referrals.length === 0)
    return [{ title: 'AI and crawlers', sentences: [`There were no such requests in ${when}.`] }]
  const broke = operators.filter(({ disallowed }) => disallowed > 0)
  return [
    {
      title: 'AI and crawlers',
      sentences: [
        `${counted(requests, 'request')} and ${counted(pages, 'page')}, ${size(bytes)}, in ${when}.`,
        broke.length === 0
          ? 'No request violated robots.txt.'
          : `Requests that violated robots.txt: ${broke.map((one) => `${operatorName(one)} (${number(one.disallowed)})`).join(', ')}.`,
      ],
      table: makeTable(operators, [
        ['operator', operatorName],
        ['for', ({ purposes }) => purposes.join(', ')],
        ['requests', (one) => number(one.requests)],
        ['trend', (one) => trend(one.requests, one.before)],
        ['pages', (one) => number(one.pages)],
        ['bytes', (one) => size(one.bytes)],
        ['robots.txt violations', robotsText],
        ['over limits', (one) => number(one.beyond)],
        ['stopped', ({ stopped, would }) => `${number(stopped)}${would === 0 ? '' : `, would be ${number(would)}`}`],
      ]),
    },
    {
      title: 'Visits from AI services',
      sentences: [
        referrals.length === 0
          ? 'No visit came from an AI service.'
          : 'Visits with an AI service as Referer or utm_source; many visits have neither.',
      ],
      table: makeTable(referrals, [
        ['service', ({ service }) => service],
        ['people', ({ visits }) => number(visits)],
        ['trend', ({ visits, before }) => trend(visits, before)],
        ['uncertain', ({ unclear }) => number(unclear)],
        [
          'to',
          ({ paths }) =>
            paths
              .slice(0, 3)
              .map(({ name }) => name)
              .join(' '),
        ],
      ]),
    },
    ...(offers.length === 0 ? [] : [offerSection(offers)]),
    ...operators.slice(0, MAX_OPERATORS).map(operatorSection),
  ]
}

function offerSection(offers: CrawlerReport['offers']): Section {
  return tableSection('Priced requests', offers, [
    ['rule', ({ rule }) => rule],
    ['outcome', ({ outcome }) => outcome],
    ['requests', ({ requests }) => number(requests)],
  ])
}

function robotsText({ disallowed, unread, requests }: OperatorReading): string {
  if (unread === requests) return 'not fetched'
  return disallowed === 0 ? 'kept' : number(disallowed)
}

function operatorSection(one: OperatorReading): Section {
  const names = one.crawlers.map(
    ({ name, purpose, requests }) => `${name} (${[purpose, number(requests)].filter(Boolean).join(', ')})`,
  )
  const busiest = one.hours.indexOf(Math.max(...one.hours))
  return {
    title: operatorName(one),
    operator: one.operator,
    sentences: [
      `${names.join(', ')}. First ${moment(one.first)}, last ${moment(one.last)}, most between ${busiest}:00 and ${busiest + 1}:00 UTC.`,
      `By day: ${one.days.map(({ day, requests }) => `${day.slice(5)}: ${number(requests)}`).join(', ')}.`,
    ],
    table: makeTable(one.paths.slice(0, MAX_PATHS), [
      ['path', ({ name }) => name],
      ['requests', ({ requests }) => number(requests)],
      ['share', ({ share }) => percent(share)],
      ['pages', ({ pages }) => number(pages)],
      ['bytes', ({ bytes }) => size(bytes)],
      ['robots.txt violations', ({ disallowed }) => (disallowed === 0 ? '' : number(disallowed))],
    ]),
  }
}
