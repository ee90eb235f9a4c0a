import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { type Bar, Bars } from '../parts/bars.tsx'
import { Course, nameUnit } from '../parts/course.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Numbers } from '../parts/numbers.tsx'
import { Ago, Badge, Card, Silent } from '../parts/pieces.tsx'
import { SectionCard } from '../parts/report.tsx'
import { SpanChoice } from '../parts/span.tsx'
import { Stream } from '../parts/stream.tsx'
import { WorldMap } from '../parts/world.tsx'
import { linkTo } from '../route.ts'
import { country, percent, shortCount, word } from '../words.ts'

type LiveAnswer = Got<'live'>
type Counted = LiveAnswer['classes'][number]
type Tallied = NonNullable<LiveAnswer['counted']>

const SPANS = { '5m': '5 minutes', '1h': '1 hour', '24h': '24 hours' } as const
type Span = keyof typeof SPANS
const OFTEN = { '5m': 2_000, '1h': 10_000, '24h': 60_000 } as const

/** Shows live requests at the gate. */
export function Live() {
  const [span, setSpan] = useState<Span>('5m')
  const loaded = useLoad('live', { span }, OFTEN[span])
  return (
    <>
      <Numbers />
      <SpanChoice spans={SPANS} span={span} onSpan={setSpan} />
      <div class="grid">
        <Shown loaded={loaded}>{(answer) => <Requests answer={answer} />}</Shown>
        <Stream />
      </div>
      {loaded.value && <Pictures answer={loaded.value} />}
    </>
  )
}

function Requests({ answer }: { answer: LiveAnswer }) {
  const { totals, span, silent, since } = answer
  const all = Object.values(totals).reduce((sum, part) => sum + part, 0)
  return (
    <>
      <Silent count={silent} />
      <Card title={`Requests ${nameUnit(answer)}, ${SPANS[span]}`} wide aside={<Totals totals={totals} all={all} />}>
        {since !== null && (
          <p class="quiet">
            Counted since the start, <Ago at={since} />.
          </p>
        )}
        <Course course={answer} />
      </Card>
    </>
  )
}

function Pictures({ answer: { classes, networks, counted, span } }: { answer: LiveAnswer }) {
  const hours = span === '24h' ? 'last 24 hours' : 'this hour and the previous hour'
  const { countries = [], rules = [], systems = [], paths = [], crawlers = [], challenges } = counted ?? {}
  const nothing = counted === null ? 'There are no hourly counts yet.' : 'There are none yet.'
  const showBars = (title: string, rows: readonly Bar[]) => (
    <Card title={title} aside={hours}>
      <Bars nothing={nothing} rows={rows} />
    </Card>
  )
  const showShares = (title: string, key: string, rows: readonly Counted[]) => (
    <Card title={title}>
      <Bars
        nothing="There are no decisions."
        whole={rows.reduce((sum, { count }) => sum + count, 0)}
        rows={rows.map((row) => ({ ...linkBar(row, word(row.name), { [key]: row.name }), tone: row.name }))}
      />
    </Card>
  )
  const textBar = (end: string) => (row: Tallied['paths'][number]) =>
    linkBar({ name: row.name, count: row.requests }, row.name, { text: row.name.split(end, 1)[0] ?? '' })
  return (
    <>
      <div class="grid three">
        {showShares('Clients', 'class', classes)}
        {showShares('Networks', 'network', networks)}
        {showBars('Rules', rules.map(ruleBar))}
      </div>
      <div class="grid">
        {challenges && <SectionCard section={challenges} />}
        <Card title="Countries" aside={hours} wide>
          <div class="world">
            <WorldMap
              label={`Countries of visitors: ${
                countries
                  .slice(0, 5)
                  .map(({ name, requests }) => `${country(name)} ${requests}`)
                  .join(', ') || 'none yet'
              }`}
              counts={Object.fromEntries(countries.map(({ name, requests }) => [name, requests]))}
            />
            <Bars
              nothing={nothing}
              rows={countries
                .slice(0, 10)
                .map(({ name, requests }) => ({ name, count: requests, shown: country(name) }))}
            />
          </div>
        </Card>
      </div>
      <div class="grid three">
        {showBars('Operators', systems.map(textBar(' ')))}
        {showBars('Paths', paths.map(textBar('*')))}
        {showBars('Crawlers', crawlers.map(claimBar))}
      </div>
    </>
  )
}

function Totals({ totals, all }: { totals: Readonly<Record<string, number>>; all: number }) {
  return (
    <span class="totals">
      <strong>{shortCount(all)}</strong>
      {Object.entries(totals)
        .filter(([, number]) => number > 0)
        .map(([name, number]) => (
          <span key={name}>
            <Badge name={name} /> {shortCount(number)} <small>{percent(number, all)}</small>
          </span>
        ))}
    </span>
  )
}

/** Makes a bar a link to its requests. */
function linkBar(row: Counted, shown: ComponentChildren, query: Readonly<Record<string, string>>): Bar {
  const link = (
    <a class="plain-link" href={linkTo('live', query)}>
      {shown}
    </a>
  )
  return { ...row, shown: link }
}

function ruleBar({ rule, action, state, requests }: Tallied['rules'][number]): Bar {
  const shown = (
    <>
      <Badge name={action} /> {rule} {state === 'trial' && <small>dry run</small>}
    </>
  )
  const query = { text: rule, ...(state === 'trial' ? { trial: '1' } : { outcome: action }) }
  return { ...linkBar({ name: `${rule} ${action} ${state}`, count: requests }, shown, query), tone: action }
}

function claimBar({ operator, claim, requests }: Tallied['crawlers'][number]) {
  return {
    name: `${operator} ${claim}`,
    count: requests,
    shown: (
      <>
        <Badge name={claim}>{claim}</Badge> {operator}
      </>
    ),
  }
}
