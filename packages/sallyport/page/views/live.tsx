import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { Bars } from '../parts/bars.tsx'
import { Course, nameUnit } from '../parts/course.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Numbers } from '../parts/numbers.tsx'
import { Ago, Badge, Card, Table } from '../parts/pieces.tsx'
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
      {silent > 0 && (
        <p class="failure wide" role="alert">
          {count(silent)} processes did not respond. Their requests are missing here.
        </p>
      )}
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
  const decided = classes.reduce((sum, { count }) => sum + count, 0)
  const countries = counted?.countries ?? []
  const hours = span === '24h' ? 'last 24 hours' : 'this hour and the previous hour'
  const none = (text: string): string => (counted === null ? 'There are no hourly counts yet.' : text)
  return (
    <>
      <div class="grid three">
        <Card title="Clients">
          <Bars
            nothing="There are no decisions."
            whole={decided}
            rows={classes.map((row) => linkBar(row, word(row.name), { class: row.name }, row.name))}
          />
        </Card>
        <Card title="Networks">
          <Bars
            nothing="There are no decisions."
            whole={decided}
            rows={networks.map((row) => linkBar(row, word(row.name), { network: row.name }, row.name))}
          />
        </Card>
        <Card title="Rules" aside={hours}>
          <Bars nothing={none('Rules only allowed requests.')} rows={(counted?.rules ?? []).map(ruleBar)} />
        </Card>
      </div>
      <div class="grid">
        {counted !== null && counted.challenges.length > 0 && (
          <Card title="Challenges" aside={hours} wide>
            <Challenges rows={counted.challenges} />
          </Card>
        )}
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
              nothing={none('There are no countries yet.')}
              rows={countries
                .slice(0, 10)
                .map(({ name, requests }) => ({ name, count: requests, shown: country(name) }))}
            />
          </div>
        </Card>
      </div>
      <div class="grid three">
        <Card title="Operators" aside={hours}>
          <Bars
            nothing={none('There are no operators yet.')}
            rows={(counted?.systems ?? []).map(({ name, requests }) =>
              linkBar({ name, count: requests }, name, { text: name.split(' ', 1)[0] ?? '' }),
            )}
          />
        </Card>
        <Card title="Paths" aside={hours}>
          <Bars
            nothing={none('There are no paths yet.')}
            rows={(counted?.paths ?? []).map(({ name, requests }) =>
              linkBar({ name, count: requests }, name, { text: name.split('*', 1)[0] ?? '' }),
            )}
          />
        </Card>
        <Card title="Crawlers" aside={hours}>
          <Bars nothing={none('There are no crawlers yet.')} rows={(counted?.crawlers ?? []).map(claimBar)} />
        </Card>
      </div>
    </>
  )
}

/** Shows challenges and their outcomes, by rule and level. */
function Challenges({ rows }: { rows: Tallied['challenges'] }) {
  return (
    <Table
      label="Challenges by rule"
      rows={rows}
      name={({ rule, level }) => `${rule} ${level}`}
      columns={[
        [
          'Rule',
          ({ rule }) => (
            <a class="plain-link" href={linkTo('live', { text: rule, outcome: 'challenge' })}>
              {rule === '' ? 'unknown' : rule}
            </a>
          ),
        ],
        ['Level', ({ level }) => level],
        ['Challenged', ({ asked }) => count(asked)],
        [
          'Solved',
          ({ asked, solved }) => (
            <>
              {count(solved)} {asked > 0 && <small>{percent(solved, asked)}</small>}
            </>
          ),
        ],
        ['Failed attempts', ({ failed }) => count(failed)],
        ['Not solved yet', ({ asked, solved }) => count(Math.max(0, asked - solved))],
        ['Not shown', ({ unshown }) => count(unshown)],
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

/** Makes a bar a link to its requests. */
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
      <Badge name={action} /> {rule} {state === 'trial' && <small>dry run</small>}
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
