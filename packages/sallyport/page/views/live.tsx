import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { Bars } from '../parts/bars.tsx'
import { Chart } from '../parts/chart.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Numbers } from '../parts/numbers.tsx'
import { Badge, Card, Table } from '../parts/pieces.tsx'
import { Stream } from '../parts/stream.tsx'
import { WorldMap } from '../parts/world.tsx'
import { linkTo } from '../route.ts'
import { count, country, percent, shortCount, word } from '../words.ts'

type LiveAnswer = Got<'live'>
type Counted = LiveAnswer['classes'][number]

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
      <fieldset class="choices" aria-label="Time span">
        {Object.entries(SPANS).map(([name, text]) => (
          <button
            key={name}
            type="button"
            class="plain"
            aria-pressed={span === name}
            onClick={() => setSpan(name as Span)}
          >
            {text}
          </button>
        ))}
      </fieldset>
      <div class="grid">
        <Shown loaded={loaded}>{(answer) => <Course answer={answer} />}</Shown>
        <Stream />
      </div>
      {loaded.value && <Pictures answer={loaded.value} />}
    </>
  )
}

function Course({ answer }: { answer: LiveAnswer }) {
  const { totals, span, silent } = answer
  const all = Object.values(totals).reduce((sum, part) => sum + part, 0)
  return (
    <>
      {silent > 0 && (
        <p class="failure wide" role="alert">
          {count(silent)} of the processes did not answer: what they saw is missing here.
        </p>
      )}
      <Card title={`Requests, ${SPANS[span]}`} wide aside={<Totals totals={totals} all={all} />}>
        <Curve answer={answer} all={all} />
      </Card>
    </>
  )
}

function Pictures({ answer: { classes, networks, tops, hours } }: { answer: LiveAnswer }) {
  const decided = classes.reduce((sum, { count }) => sum + count, 0)
  const { countries } = tops
  const seen = `most seen · ${hours === 24 ? 'last 24 hours' : 'this hour and the last'}`
  return (
    <>
      <div class="columns">
        <Card title="Who asks">
          <Bars
            nothing="Nothing was decided."
            whole={decided}
            rows={classes.map((row) => linkedBar(row, word(row.name), { class: row.name }, row.name))}
          />
        </Card>
        <Card title="From what network">
          <Bars
            nothing="Nothing was decided."
            whole={decided}
            rows={networks.map((row) => linkedBar(row, word(row.name), { network: row.name }, row.name))}
          />
        </Card>
        <Card title="Rules" aside={seen}>
          <Bars nothing="No rule decided." rows={tops.rules.map((row) => ruleBar(row))} />
          {tops.trials.length > 0 && <h3>On trial</h3>}
          {tops.trials.length > 0 && <Bars nothing="" rows={tops.trials.map((row) => ruleBar(row, { trial: '1' }))} />}
        </Card>
        {tops.challenges.length > 0 && (
          <Card title="Challenges" aside={seen}>
            <Funnel rows={tops.challenges} />
          </Card>
        )}
      </div>
      <div class="grid">
        <Card title="Countries" aside={seen} wide>
          <div class="world">
            <WorldMap
              label={`Countries of visitors: ${
                countries
                  .slice(0, 5)
                  .map(({ name, count }) => `${country(name)} ${count}`)
                  .join(', ') || 'none yet'
              }`}
              counts={Object.fromEntries(countries.map(({ name, count }) => [name, count]))}
            />
            <Bars
              nothing="No country is known yet."
              rows={countries.slice(0, 10).map((row) => ({ ...row, shown: country(row.name) }))}
            />
          </div>
        </Card>
      </div>
      <div class="columns">
        <Card title="Operators" aside={seen}>
          <Bars
            nothing="No operator is known yet."
            rows={tops.operators.map((row) => linkedBar(row, row.name, { text: row.name.split(' ', 1)[0] ?? '' }))}
          />
        </Card>
        <Card title="Paths" aside={seen}>
          <Bars
            nothing="No path was requested."
            rows={tops.paths.map((row) => linkedBar(row, row.name, { text: row.name }))}
          />
        </Card>
        <Card title="Crawlers" aside={seen}>
          <Bars nothing="No crawler was named." rows={tops.crawlers.map(claimBar)} />
        </Card>
      </div>
    </>
  )
}

/** Challenges and what came of them, by rule. */
function Funnel({ rows }: { rows: readonly Counted[] }) {
  const rules = new Map<string, Record<string, number>>()
  for (const { name, count } of rows) {
    const [rule = '', step = ''] = split(name)
    rules.set(rule, { ...rules.get(rule), [step]: count })
  }
  return (
    <Table label="Challenges by rule" head={['Rule', 'Challenged', 'Solved', 'Failed', 'Left', 'Not shown']}>
      {[...rules].map(([rule, { asked = 0, solved = 0, failed = 0, unshown = 0 }]) => (
        <tr key={rule}>
          <td>
            <a class="plain-link" href={linkTo('live', { text: rule, outcome: 'challenge' })}>
              {rule === '' ? 'not known' : rule}
            </a>
          </td>
          <td>{count(asked)}</td>
          <td>
            {count(solved)} {asked > 0 && <small>{percent(solved, asked)}</small>}
          </td>
          <td>{count(failed)}</td>
          <td>{count(Math.max(0, asked - solved))}</td>
          <td>{count(unshown)}</td>
        </tr>
      ))}
    </Table>
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

function Curve({ answer, all }: { answer: LiveAnswer; all: number }) {
  const { from, step, curves, totals } = answer
  const drawn = useMemo(() => {
    const perSecond = step / 1_000
    const length = curves.allow.length
    const rows = Object.entries(curves).map(([name, values]) => ({
      name,
      values: values.map((value) => value / perSecond),
    }))
    return { times: Array.from({ length }, (_, index) => (from + index * step) / 1_000), rows }
  }, [from, step, curves])
  const parts = Object.entries(totals).map(([name, number]) => `${count(number)} ${word(name)}`)
  return (
    <Chart
      label={`Requests a second by what became of them: ${count(all)} in all, ${parts.join(', ')}`}
      curves={drawn}
    />
  )
}

/** A bar that leads to its requests. */
function linkedBar(row: Counted, shown: ComponentChildren, query: Readonly<Record<string, string>>, tone?: string) {
  const link = (
    <a class="plain-link" href={linkTo('live', query)}>
      {shown}
    </a>
  )
  return { ...row, shown: link, ...(tone !== undefined && { tone }) }
}

/** `rule action` as a bar. */
function ruleBar(row: Counted, query: Readonly<Record<string, string>> = {}) {
  const [rule = '', action = ''] = split(row.name)
  const outcome = 'trial' in query ? {} : { outcome: action }
  const shown = (
    <>
      <Badge name={action} /> {rule}
    </>
  )
  return linkedBar(row, shown, { text: rule, ...outcome, ...query }, action)
}

function claimBar({ name, count }: Counted) {
  const [slug = '', outcome = ''] = split(name)
  return {
    name,
    count,
    shown: (
      <>
        <Badge name={outcome}>{outcome}</Badge> {slug}
      </>
    ),
  }
}

function split(name: string): readonly string[] {
  const space = name.lastIndexOf(' ')
  return [name.slice(0, space), name.slice(space + 1)]
}
