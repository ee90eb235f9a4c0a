import { counted } from '@sallyport/core'
import type { CrawlerReport, OperatorReading } from '@sallyport/engine'
import { moment, number, percent, size, span, trend } from './figures.ts'
import type { Section } from './section.ts'

const MAX_OPERATORS = 12
const MAX_PATHS = 8

/** An operator as what was shown: a claim that nothing proves is shown as one. */
function operatorName({ operator, claim }: Pick<OperatorReading, 'operator' | 'claim'>): string {
  if (claim === 'verified') return operator
  return claim === 'spoofed' ? `pretends to be ${operator}` : `claims to be ${operator}`
}

/** Sections about what AI and crawlers read, whether they kept to the rules, and whom they sent. */
export function crawlerSections(report: CrawlerReport): readonly Section[] {
  const { operators, referrals, from, until, requests, pages, bytes } = report
  const when = `${span(from, until)}, ${moment(from)} to ${moment(until)} UTC`
  if (requests === 0 && referrals.length === 0)
    return [{ title: 'AI and crawlers', sentences: [`None came in ${when}.`] }]
  const broke = operators.filter(({ disallowed }) => disallowed > 0)
  return [
    {
      title: 'AI and crawlers',
      sentences: [
        `${counted(requests, 'request')} and ${counted(pages, 'page')}, ${size(bytes)}, in ${when}.`,
        broke.length === 0
          ? 'Nobody asked for what robots.txt refuses.'
          : `Asked for what robots.txt refuses: ${broke.map((one) => `${operatorName(one)} (${number(one.disallowed)})`).join(', ')}.`,
      ],
      table: {
        head: [
          'operator',
          'for',
          'requests',
          'trend',
          'pages',
          'bytes',
          'against robots.txt',
          'beyond limits',
          'stopped',
        ],
        rows: operators.map((one) => [
          operatorName(one),
          one.purposes.join(', '),
          number(one.requests),
          trend(one.requests, one.before),
          number(one.pages),
          size(one.bytes),
          robotsText(one),
          number(one.beyond),
          one.would === 0 ? number(one.stopped) : `${number(one.stopped)}, would be ${number(one.would)}`,
        ]),
      },
    },
    {
      title: 'Visits that came from answers of AI',
      sentences: [
        referrals.length === 0
          ? 'None that named where they came from.'
          : 'Those that named it, by Referer or utm_source; many do not.',
      ],
      table: {
        head: ['service', 'people', 'trend', 'cannot tell', 'to'],
        rows: referrals.map(({ service, visits, unclear, before, paths }) => [
          service,
          number(visits),
          trend(visits, before),
          number(unclear),
          paths
            .slice(0, 3)
            .map(({ name }) => name)
            .join(' '),
        ]),
      },
    },
    ...operators.slice(0, MAX_OPERATORS).map(operatorSection),
  ]
}

function robotsText({ disallowed, unread, requests }: OperatorReading): string {
  if (unread === requests) return 'not read'
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
      `By day: ${one.days.map(({ day, requests }) => `${day.slice(5)} ${number(requests)}`).join(', ')}.`,
    ],
    table: {
      head: ['path', 'requests', 'share', 'pages', 'bytes', 'against robots.txt'],
      rows: one.paths
        .slice(0, MAX_PATHS)
        .map(({ name, requests, share, pages, bytes, disallowed }) => [
          name,
          number(requests),
          percent(share),
          number(pages),
          size(bytes),
          disallowed === 0 ? '' : number(disallowed),
        ]),
    },
  }
}
