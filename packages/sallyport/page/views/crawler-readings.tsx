import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { Bars } from '../parts/bars.tsx'
import { Empty, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Facts, Table } from '../parts/pieces.tsx'
import { REPORT_MS, REPORT_SPANS, type ReportSpan, SpanChoice } from '../parts/span.tsx'
import { linkTo } from '../route.ts'
import { clipped, count, counted, moment, size, trend } from '../words.ts'

type Read = NonNullable<Got<'crawlers/read'>['report']>
type Operator = Read['operators'][number]

/** Everything that crawlers and agents read, by operator, or all of one of them. */
export function Readings({ operator, claim }: { operator: string | null; claim: string | null }) {
  const [span, setSpan] = useState<ReportSpan>('7d')
  const loaded = useLoad('crawlers/read', { span }, REPORT_MS)
  return (
    <>
      <SpanChoice spans={REPORT_SPANS} span={span} onSpan={setSpan} />
      <Shown loaded={loaded}>
        {({ report }) => {
          if (report === null)
            return (
              <Empty>
                Nothing was counted yet: what comes is here some seconds later, and in <a href={linkTo('live')}>Live</a>{' '}
                at once.
              </Empty>
            )
          if (operator === null) return <All report={report} />
          const one = report.operators.find((one) => one.operator === operator && one.claim === claim)
          return (
            <>
              <p>
                <a href={linkTo('crawlers')}>All crawlers</a>
              </p>
              {one === undefined ? <Empty>No request had this name in this time.</Empty> : <One one={one} />}
            </>
          )
        }}
      </Shown>
    </>
  )
}

/** An operator as what was shown: a claim that nothing proves is shown as one. */
function nameOperator({ operator, claim }: Operator): string {
  if (claim === 'verified') return operator
  return claim === 'spoofed' ? `pretends to be ${operator}` : `claims to be ${operator}`
}

function All({ report: { operators, referrals, requests, pages, bytes } }: { report: Read }) {
  return (
    <div class="grid">
      <Card
        title="What they read"
        aside={`${counted(requests, 'request')}, ${counted(pages, 'page')}, ${size(bytes)}`}
        wide
      >
        {operators.length === 0 ? (
          <Empty>
            No crawler and no agent came in this time; a longer one may have some, and one can be verified below.
          </Empty>
        ) : (
          <Table
            label="What crawlers read"
            head={['Operator', 'Requests', 'Pages', 'Against robots.txt', 'Beyond limits', 'Stopped']}
          >
            {operators.map((one) => (
              <tr key={nameOperator(one)}>
                <td>
                  <a href={linkTo('crawlers', { operator: one.operator, claim: one.claim })}>
                    {clipped(nameOperator(one))}
                  </a>{' '}
                  <div class="quiet">{one.purposes.join(', ')}</div>
                </td>
                <td>
                  {count(one.requests)} <small class="quiet">{trend(one.requests, one.before)}</small>
                </td>
                <td>
                  {count(one.pages)} <small class="quiet">{size(one.bytes)}</small>
                </td>
                <td>{robotsText(one)}</td>
                <td>{count(one.beyond)}</td>
                <td>{count(one.stopped)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      <Card title="Visits from answers of AI" aside="those that name it" wide>
        <Bars
          nothing="None that named where they came from."
          rows={referrals.map(({ service, visits, unclear, before, paths }) => ({
            name: service,
            count: visits,
            shown: (
              <>
                {service}{' '}
                <small class="quiet">
                  {[
                    trend(visits, before),
                    clipped(paths[0]?.name),
                    unclear > 0 && `and ${count(unclear)} that may be programs`,
                  ]
                    .filter(Boolean)
                    .join(' ')}
                </small>
              </>
            ),
          }))}
        />
      </Card>
    </div>
  )
}

function robotsText({ disallowed, unread, requests }: Operator): string {
  if (unread === requests) return 'not read'
  return disallowed === 0 ? 'kept' : count(disallowed)
}

function One({ one }: { one: Operator }) {
  return (
    <div class="grid">
      <Card title={nameOperator(one)} wide>
        <Facts
          rows={[
            ['Claim', <Badge key="claim" name={one.claim} />],
            ['For', one.purposes.join(', ')],
            ['Requests', `${count(one.requests)} (${trend(one.requests, one.before) || 'as many as before'})`],
            ['Pages read', `${count(one.pages)}, ${size(one.bytes)}`],
            ['Against robots.txt', robotsText(one)],
            ['Beyond limits', count(one.beyond)],
            ['Stopped', one.would > 0 ? `${count(one.stopped)}, would be ${count(one.would)}` : count(one.stopped)],
            ['First and last hour', `${moment(one.first)} and ${moment(one.last)}`],
          ]}
        />
      </Card>
      <Card title="Days">
        <Table label="Requests by day" head={['Day', 'Requests']}>
          {one.days.map(({ day, requests }) => (
            <tr key={day}>
              <td>{day}</td>
              <td>{count(requests)}</td>
            </tr>
          ))}
        </Table>
      </Card>
      <Card title="Hours of the day" aside="UTC">
        <Bars
          nothing="None."
          rows={one.hours.map((requests, hour) => ({ name: `${String(hour).padStart(2, '0')}:00`, count: requests }))}
        />
      </Card>
      <Card title="In the names of">
        <Bars
          nothing="None."
          rows={one.crawlers.map(({ name, purpose, requests }) => ({
            name: `${name} ${purpose}`,
            count: requests,
            shown: (
              <>
                {clipped(name)} <small class="quiet">{purpose}</small>
              </>
            ),
          }))}
        />
      </Card>
      <Card title="Paths" wide>
        <Table label="Paths" head={['Path', 'Requests', 'Pages', 'Bytes', 'Against robots.txt']}>
          {one.paths.map(({ name, requests, pages, bytes, disallowed }) => (
            <tr key={name}>
              <td class="code">{clipped(name)}</td>
              <td>{count(requests)}</td>
              <td>{count(pages)}</td>
              <td>{size(bytes)}</td>
              <td>{disallowed === 0 ? '' : count(disallowed)}</td>
            </tr>
          ))}
        </Table>
      </Card>
    </div>
  )
}
