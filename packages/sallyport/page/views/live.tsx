import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { Bars } from '../parts/bars.tsx'
import { Course, nameUnit } from '../parts/course.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Numbers } from '../parts/numbers.tsx'
import { Badge, Card, Table } from '../parts/pieces.tsx'
import { SpanChoice } from '../parts/span.tsx'
import { Stream } from '../parts/stream.tsx'
import { WorldMap } from '../parts/world.tsx'
import { linkTo } from '../route.ts'
import { count, country, percent, shortCount, word } from '../words.ts'

type LiveAnswer = Got<'live'>
type Counted = LiveAnswer['classes'][number]
type Tallied = NonNullable<LiveAnswer['counted']>

const SPANS = { '5m': '5 minutes', '1h': '1 hour', '24h': '24 hours' } as const
type Span = keyof typeof SPANS
const OFTEN = { '5m': 2_000, '1h': 10_000, '24h': 60_000 } as const

/** Live requests at the gate. */
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
  const { totals, span, silent } = answer
  const all = Object.values(totals).reduce((sum, part) => sum + part, 0)
  return (
    <>
      {silent > 0 && (
        <p class="failure wide" role="alert">
          {count(silent)} of the processes did not answer: what they saw is missing here.
        </p>
      )}
      <Card title={`Requests ${nameUnit(answer)}, ${SPANS[span]}`} wide aside={<Totals totals={totals} all={all} />}>
        <Course course={answer} />
      </Card>
    </>
  )
}

function Pictures({ answer: { classes, networks, seen, counted, span } }: { answer: LiveAnswer }) {
  const decided = classes.reduce((sum, { count }) => sum + count, 0)
  const countries = Object.entries(seen.countries)
  const [remembered, hours] = [
    'of the remembered requests',
    span === '24h' ? 'last 24 hours' : 'this hour and the last',
  ]
  return (
    <>
      <div class="grid three">
        <Card title="Who asks">
          <Bars
            nothing="Nothing was decided."
            whole={decided}
            rows={classes.map((row) => linkBar(row, word(row.name), { class: row.name }, row.name))}
          />
        </Card>
        <Card title="From what network">
          <Bars
            nothing="Nothing was decided."
            whole={decided}
            rows={networks.map((row) => linkBar(row, word(row.name), { network: row.name }, row.name))}
          />
        </Card>
        <Card title="Rules" aside={hours}>
          <Bars nothing="No rule did anything but allow." rows={(counted?.rules ?? []).map(ruleBar)} />
        </Card>
      </div>
      <div class="grid">
        {Object.keys(seen.challenges).length > 0 && (
          <Card title="Challenges" aside={remembered} wide>
            <Funnel steps={seen.challenges} />
          </Card>
        )}
        <Card title="Countries" aside={remembered} wide>
          <div class="world">
            <WorldMap
              label={`Countries of visitors: ${
                countries
                  .slice(0, 5)
                  .map(([code, count]) => `${country(code)} ${count}`)
                  .join(', ') || 'none yet'
              }`}
              counts={seen.countries}
            />
            <Bars
              nothing="No country is known yet."
              rows={countries.slice(0, 10).map(([name, count]) => ({ name, count, shown: country(name) }))}
            />
          </div>
        </Card>
      </div>
      <div class="grid three">
        <Card title="Operators" aside={hours}>
          <Bars
            nothing="No operator is known yet."
            rows={(counted?.systems ?? []).map(({ name, requests }) =>
              linkBar({ name, count: requests }, name, { text: name.split(' ', 1)[0] ?? '' }),
            )}
          />
        </Card>
        <Card title="Paths" aside={hours}>
          <Bars
            nothing="No path was requested."
            rows={(counted?.paths ?? []).map(({ name, requests }) =>
              linkBar({ name, count: requests }, name, { text: name.split('*', 1)[0] ?? '' }),
            )}
          />
        </Card>
        <Card title="Crawlers" aside={hours}>
          <Bars nothing="No crawler was named." rows={(counted?.crawlers ?? []).map(claimBar)} />
        </Card>
      </div>
    </>
  )
}

/** Challenges and what came of them, by rule. */
function Funnel({ steps }: { steps: LiveAnswer['seen']['challenges'] }) {
  const rules = new Map<string, Record<string, number>>()
  for (const [name, count] of Object.entries(steps)) {
    const space = name.lastIndexOf(' ')
    const rule = name.slice(0, space)
    rules.set(rule, { ...rules.get(rule), [name.slice(space + 1)]: count })
  }
  return (
    <Table
      label="Challenges by rule"
      rows={[...rules]}
      name={([rule]) => rule}
      columns={[
        [
          'Rule',
          ([rule]) => (
            <a class="plain-link" href={linkTo('live', { text: rule, outcome: 'challenge' })}>
              {rule === '' ? 'not known' : rule}
            </a>
          ),
        ],
        ['Challenged', ([, { asked = 0 }]) => count(asked)],
        [
          'Solved',
          ([, { asked = 0, solved = 0 }]) => (
            <>
              {count(solved)} {asked > 0 && <small>{percent(solved, asked)}</small>}
            </>
          ),
        ],
        ['Failed', ([, { failed = 0 }]) => count(failed)],
        ['Not answered', ([, { asked = 0, solved = 0, failed = 0 }]) => count(Math.max(0, asked - solved - failed))],
        ['Not shown', ([, { unshown = 0 }]) => count(unshown)],
      ]}
    />
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

/** A bar that leads to its requests. */
function linkBar(row: Counted, shown: ComponentChildren, query: Readonly<Record<string, string>>, tone?: string) {
  const link = (
    <a class="plain-link" href={linkTo('live', query)}>
      {shown}
    </a>
  )
  return { ...row, shown: link, ...(tone !== undefined && { tone }) }
}

function ruleBar({ rule, action, state, requests }: Tallied['rules'][number]) {
  const shown = (
    <>
      <Badge name={action} /> {rule} {state === 'trial' && <small>on trial</small>}
    </>
  )
  const query = { text: rule, ...(state === 'trial' ? { trial: '1' } : { outcome: action }) }
  return linkBar({ name: `${rule} ${action} ${state}`, count: requests }, shown, query, action)
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
