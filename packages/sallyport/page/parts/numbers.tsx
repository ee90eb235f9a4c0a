import type { ComponentChildren } from 'preact'
import { type Got, session } from '../api.ts'
import { linkTo } from '../route.ts'
import { count, exactPercent, shortCount, trend } from '../words.ts'
import { Shown, useLoad } from './load.tsx'
import { Empty } from './pieces.tsx'
import { REPORT_MS } from './span.tsx'

type Today = Got<'today'>
type Period = NonNullable<Today['now']>

/** Shows the last 24 hours in four numbers, compared with the day before. */
export function Numbers() {
  const loaded = useLoad('today', {}, REPORT_MS)
  return (
    <section class="numbers" aria-label="Last 24 hours">
      <Shown loaded={loaded}>
        {({ isKept, isMonitoring, now, before }) =>
          now === null ? <None isKept={isKept} /> : <Four now={now} before={before} isMonitoring={isMonitoring} />
        }
      </Shown>
    </section>
  )
}

function None({ isKept }: Pick<Today, 'isKept'>) {
  if (!isKept)
    return (
      <Empty>
        There are no hourly counts, because <code>tally</code> is off or dataDir is read-only.
      </Empty>
    )
  return (
    <Empty>
      There were no requests in the last 24 hours. Numbers appear a few seconds after a request. <FirstRequest />
    </Empty>
  )
}

/** Links to the site, where its address is known. */
export function FirstRequest() {
  const url = session.value?.url
  return (
    url && (
      <>
        Send the first request: <a href={url}>open the site</a>.
      </>
    )
  )
}

function Four({ now, before, isMonitoring }: { now: Period } & Pick<Today, 'before' | 'isMonitoring'>) {
  const than = (part: (period: Period) => string): string | undefined =>
    before === null ? undefined : `${part(before)} the day before`
  // The last hour has not ended yet, while the hours of the day before have.
  const elapsed = Math.min(1, (Date.now() - Date.parse(now.from)) / 86_400_000)
  return (
    <>
      <Tile name="Requests" value={shortCount(now.requests)} to="report">
        {before === null
          ? 'in the last 24 hours'
          : `${trend(now.requests / elapsed, before.requests)} against the day before`}
      </Tile>
      <Tile name="Stopped" value={exactPercent(now.stopped)} to="report">
        {than(({ stopped }) => exactPercent(stopped)) ?? 'of all requests'}
      </Tile>
      <Tile name="People affected" value={count(now.hitPeople)} to="report">
        {[`${exactPercent(now.hit)} of about ${shortCount(now.visitors)}`, than(({ hitPeople }) => count(hitPeople))]
          .filter(Boolean)
          .join('; ')}
      </Tile>
      <Tile name="With everything enforced" value={exactPercent(now.wouldHit)} to="policy">
        {now.wouldHit === now.hit
          ? `the same: ${isMonitoring ? 'monitor mode and dry runs would affect no more people' : 'there is no monitor mode or dry run'}`
          : `of visitors${before === null ? '' : `; ${exactPercent(before.wouldHit)} the day before`}`}
      </Tile>
    </>
  )
}

function Tile({ name, value, to, children }: { name: string; value: string; to: string; children: ComponentChildren }) {
  return (
    <a class="card" href={linkTo(to)}>
      <span class="name">{name}</span>
      <strong>{value}</strong>
      <small>{children}</small>
    </a>
  )
}
