import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { type Bar, Bars } from '../parts/bars.tsx'
import { Empty, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Facts, Table } from '../parts/pieces.tsx'
import { REPORT_MS, REPORT_SPANS, type ReportSpan, SpanChoice } from '../parts/span.tsx'
import { linkTo } from '../route.ts'
import { clipped, count, counted, exactPercent, moment, size, trend, word } from '../words.ts'

type Tally = NonNullable<Got<'report'>['report']>
type Share = Tally['byAction'][number]
type Impact = Tally['visitors']['hit']
type Period = Tally['now']

const STATES = { enforced: 'carried out', monitor: 'monitor mode', trial: 'on trial' } as const

/** All requests by the hour, and the visitors that the policy affects. */
export function Report() {
  const [span, setSpan] = useState<ReportSpan>('7d')
  const loaded = useLoad('report', { span }, REPORT_MS)
  return (
    <>
      <SpanChoice spans={REPORT_SPANS} span={span} onSpan={setSpan} />
      <Shown loaded={loaded}>
        {({ report }) =>
          report === null ? (
            <Empty>
              Nothing was counted yet: the first requests are here some seconds after they came, and in{' '}
              <a href={linkTo('live')}>Live</a> at once.
            </Empty>
          ) : (
            <>
              <div class="grid">
                <Visitors report={report} span={span} />
                <Rules report={report} />
                <Changes report={report} />
              </div>
              <div class="columns">
                <Shares title="Actions" shares={report.byAction} whole={report.requests} />
                <Answers report={report} />
                <Card title="Who asks">
                  <Bars
                    nothing="Nothing was decided."
                    rows={report.byClass.map(({ name, requests, people }) => ({
                      name,
                      count: requests,
                      shown: (
                        <>
                          {word(name)} <small class="quiet">about {counted(people, 'client')}</small>
                        </>
                      ),
                      tone: name,
                    }))}
                  />
                </Card>
                <Shares title="From what network" shares={report.byNetwork} whole={report.requests} />
                <Shares title="Paths" shares={report.byPath} whole={report.requests} isPlain />
                <Shares title="Autonomous systems" shares={report.bySystem} whole={report.requests} isPlain />
              </div>
            </>
          )
        }
      </Shown>
    </>
  )
}

function Visitors({ report, span }: { report: Tally; span: ReportSpan }) {
  const { visitors, now, before, requests, bytes } = report
  const { hit, wouldHit, people, unclear } = visitors
  return (
    <Card title={`Visitors affected: ${affectedText(hit.share, wouldHit.share)}`} wide>
      <Facts
        rows={[
          ['Affected now', impactText(hit)],
          ['If monitor mode and dry runs were enforced', impactText(wouldHit)],
          ['People', `about ${count(people)}, each counted once a day, in ${REPORT_SPANS[span]}`],
          ['Cannot tell', unclear.requests > 0 && unclearText(unclear)],
          ['Requests', `${count(requests)}, of them ${count(visitors.requests)} by people; ${size(bytes)} sent`],
          ['Against the time before', before && beforeText(now, before)],
        ]}
      />
      <p>
        <a href={linkTo('policy')}>Change the policy</a>
      </p>
    </Card>
  )
}

function affectedText(now: number, enforced: number): string {
  const shares = [exactPercent(now), exactPercent(enforced)]
  return shares[0] === shares[1] ? `${shares[0]}` : `${shares[0]}, and ${shares[1]} if all were enforced`
}

function impactText({ people, share, requests, asked }: Impact): string {
  if (requests === 0) return 'nobody'
  return `about ${counted(people, 'person', 'people')} (${exactPercent(share)}): ${counted(requests - asked, 'request')} refused, ${count(asked)} challenged first`
}

/** Clients that look like browsers, and are no people for certain. */
function unclearText({ people, requests, hit, wouldHit }: Tally['visitors']['unclear']): string {
  const would = wouldHit.requests === hit.requests ? '' : `, ${count(wouldHit.people)} if all were enforced`
  return `about ${counted(people, 'more client')} with ${counted(requests, 'request')} look like browsers and may be programs; ${count(hit.people)} affected${would}`
}

function beforeText(now: Period, before: Period): string {
  return [
    `${counted(before.visitors, 'person', 'people')} (now ${trend(now.visitors, before.visitors)})`,
    `${exactPercent(before.hit)} affected`,
    `${exactPercent(before.wouldHit)} if all were enforced`,
    `${counted(before.requests, 'request')} (now ${trend(now.requests, before.requests)}), until ${moment(before.until)}`,
  ].join(', ')
}

function Rules({ report: { rules } }: { report: Tally }) {
  return (
    <Card title="Rules, and the visitors they affect" wide>
      {rules.length === 0 ? (
        <Empty>
          No rule did anything but allow. <a href={linkTo('policy')}>Try one on recorded requests</a>.
        </Empty>
      ) : (
        <Table label="Rules" head={['Rule', 'Action', 'Requests', 'Clients', 'People', 'Cannot tell']}>
          {rules.map(({ rule, action, state, requests, people, real, unclear, share }) => (
            <tr key={`${rule} ${action} ${state}`}>
              <td>
                {rule === '' ? 'none named' : clipped(rule)} <div class="quiet">{STATES[state]}</div>
              </td>
              <td>
                <Badge name={action} />
              </td>
              <td>{count(requests)}</td>
              <td>{count(people)}</td>
              <td>
                {count(real)} <small class="quiet">{exactPercent(share)}</small>
              </td>
              <td>{count(unclear)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

const ANSWERS: Readonly<Record<string, string>> = {
  challenge: 'challenged (403)',
  '4xx': 'other 4xx',
  left: 'left before an answer',
}

function Answers({ report: { answers, requests } }: { report: Tally }) {
  return (
    <Card title="Answers">
      <Bars
        nothing="Nothing was answered."
        whole={requests}
        rows={answers.map(({ name, requests, ours }) => ({
          name,
          count: requests,
          shown: (
            <>
              {ANSWERS[name] ?? name} {ours > 0 && <small class="quiet">{count(ours)} by the gate</small>}
            </>
          ),
        }))}
      />
    </Card>
  )
}

function Shares({
  title,
  shares,
  whole,
  isPlain,
}: {
  title: string
  shares: readonly Share[]
  whole: number
  isPlain?: boolean | undefined
}) {
  const bar = ({ name, requests }: Share): Bar =>
    isPlain ? { name, count: requests, shown: clipped(name) } : { name, count: requests, shown: word(name), tone: name }
  return (
    <Card title={title}>
      <Bars nothing="Nothing came." whole={whole} rows={shares.slice(0, 12).map(bar)} />
    </Card>
  )
}

function Changes({ report: { changes } }: { report: Tally }) {
  if (changes.length === 0) return null
  const cells = ({ requests, stopped, visitors, hit, wouldHit }: Period) => (
    <>
      <td>{count(requests)}</td>
      <td>{exactPercent(stopped)}</td>
      <td>{count(visitors)}</td>
      <td>{exactPercent(hit)}</td>
      <td>{exactPercent(wouldHit)}</td>
    </>
  )
  return (
    <Card title="Before and after each change of the configuration" aside="a day before it, and a day after" wide>
      <Table label="Changes" head={['', 'Requests', 'Stopped', 'People', 'Affected', 'If enforced']}>
        {changes.flatMap(({ at, changed, before, after }) => [
          <tr key={`${at} before`}>
            <td>before {moment(at)}</td>
            {cells(before)}
          </tr>,
          <tr key={`${at} after`}>
            <td>after {clipped(changed.join(', '))}</td>
            {cells(after)}
          </tr>,
        ])}
      </Table>
    </Card>
  )
}
