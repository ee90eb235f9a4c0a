import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChallengeOutcome } from '@sallyport/core'
import { METRICS, type MetricRow } from '@sallyport/engine'
import t from 'tap'
import { ROOT } from '../workspaces.ts'

/* The dashboard and the alerts know no other metrics than ours. */
const read = (...path: readonly string[]): string => readFileSync(join(ROOT, ...path), 'utf8')
const ROWS: readonly MetricRow[] = Object.values(METRICS)

t.test('units are in the names, and counters end in total', async (t) => {
  for (const { name, type } of ROWS) t.equal(name.endsWith('_total'), type === 'counter', name)
  for (const { name, type } of ROWS) if (type === 'histogram') t.match(name, /_seconds$/)
})

t.test('the dashboard and the alerts name metrics and labels that exist', async (t) => {
  const known = new Map(ROWS.map(({ name, labels }) => [name as string, labels]))
  const wrong: string[] = []
  for (const file of ['examples/grafana/sallyport.json', 'examples/prometheus/alerts.yaml']) {
    const text = read(file).replaceAll('\\"', '"')
    const named = [...text.matchAll(/\b(sallyport_[a-z_]+)(?:\{([^}]*)\})?/g)]
    t.ok(named.length >= 6, file)
    for (const [, name = '', selector = ''] of named) {
      const labels = known.get(name) ?? known.get(name.replace(/_(?:bucket|count|sum)$/, ''))
      if (labels === undefined) wrong.push(`${file}: ${name}`)
      const asked = [...selector.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label)
      for (const label of asked) {
        if (label !== 'instance' && !labels?.includes(label)) wrong.push(`${file}: ${name}{${label}}`)
      }
    }
  }
  t.same(wrong, [])
})

t.test('the dashboard shows what came of challenges, by outcomes that exist', async (t) => {
  const text = read('examples/grafana/sallyport.json').replaceAll('\\"', '"')
  const outcomes = [...text.matchAll(/sallyport_challenges_total\{outcome=~?"([^"]*)"/g)].flatMap(([, named = '']) =>
    named.split('|'),
  )
  const known: readonly ChallengeOutcome[] = ['asked', 'solved', 'waited']
  t.same([...new Set(outcomes)].toSorted(), known)
  for (const { name } of [METRICS.challenges, METRICS.challengesAbandoned, METRICS.challengeSeconds])
    t.match(text, name)
})
