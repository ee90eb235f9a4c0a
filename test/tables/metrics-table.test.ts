import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChallengeOutcome } from '@sallyport/core'
import { METRICS, type MetricRow } from '@sallyport/engine'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* The dashboard and the alerts know no other metrics than ours. */
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8').replaceAll('\\"', '"')
const ROWS: readonly MetricRow[] = Object.values(METRICS)

t.test('units are in the names, and counters end in total', async (t) => {
  for (const { name, type } of ROWS) {
    t.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') t.match(name, /_seconds$/)
  }
})

t.test('the dashboard and the alerts name metrics and labels that exist', async (t) => {
  const known = new Map(ROWS.map(({ name, labels }) => [name as string, [...labels, 'instance']]))
  for (const file of ['examples/grafana/sallyport.json', 'examples/prometheus/alerts.yaml']) {
    const named = [...read(file).matchAll(/\b(sallyport_[a-z_]+)(?:\{([^}]*)\})?/g)]
    t.ok(named.length >= 6, file)
    for (const [text, name = '', selector = ''] of named) {
      const labels = known.get(name) ?? known.get(name.replace(/_(?:bucket|count|sum)$/, ''))
      const asked = selector.match(/\w+(?=\s*[=!])/g) ?? []
      t.ok(labels && asked.every((label) => labels.includes(label)), `${file}: ${text}`)
    }
  }
})

t.test('the dashboard shows what came of challenges, by outcomes that exist', async (t) => {
  const text = read('examples/grafana/sallyport.json')
  const outcomes = text.match(/(?<=sallyport_challenges_total\{outcome=~?")[^"]*/g)
  const known: readonly ChallengeOutcome[] = ['asked', 'solved', 'waited']
  t.same([...new Set(outcomes?.flatMap((named) => named.split('|')))].sort(), known)
  for (const { name } of [METRICS.challenges, METRICS.challengesAbandoned, METRICS.challengeSeconds])
    t.match(text, name)
})
