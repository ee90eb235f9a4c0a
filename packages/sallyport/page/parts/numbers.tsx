import type { ComponentChildren } from 'preact'
import { type Got, session } from '../api.ts'
import { linkTo } from '../route.ts'
import { count, exactPercent, shortCount, trend } from '../words.ts'
import { Shown, useLoad } from './load.tsx'
import { Empty } from './pieces.tsx'
import { REPORT_MS } from './span.tsx'

type Today = Got<'today'>
type Period = NonNullable<Today['now']>

/** The last 24 hours in four numbers, held against the day before. */
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
        Nothing is counted by the hour: <code>tally</code> is off, or the dataDir is read only.
      </Empty>
    )
  const url = session.value?.url
  return (
    <Empty>
      Nothing was counted in the last 24 hours. The numbers are here some seconds after a request came
      {url && (
        <>
          ; the first may be <a href={url}>yours</a>
        </>
      )}
      .
    </Empty>
  )
}

function Four({ now, before, isMonitoring }: { now: Period } & Pick<Today, 'before' | 'isMonitoring'>) {
  const than = (part: (period: Period) => string): string | undefined =>
    before === null ? undefined : `${part(before)} the day before`
  // The last hour is not over, while those of the day before are.
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
          ? `the same: ${isMonitoring ? 'monitor mode and dry runs would hit no more' : 'nothing is in monitor mode or a dry run'}`
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
