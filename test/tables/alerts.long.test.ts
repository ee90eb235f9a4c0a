import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { ROOT } from '../workspaces.ts'
import { NO_PROMTOOL, promtool } from './promtool.ts'

/* Each alert fires for what it is about, and is quiet otherwise: Prometheus's own tool runs the rules over made series. */
const FILE = join(ROOT, 'examples/prometheus/alerts.yaml')
const ALERTS: readonly string[] = parse(readFileSync(FILE, 'utf8')).groups[0].rules.map(
  ({ alert }: { readonly alert: string }) => alert,
)

/** Writes series by the minute in promtool's words: `start+stepxtimes`. */
type Series = Readonly<Record<string, string>>

interface Case {
  readonly fires: Series
  readonly quiet: Series
  readonly at?: string | undefined
}

const named = (name: string, labels = '') => `sallyport_${name}{instance="edge"${labels === '' ? '' : `,${labels}`}}`
const one = (name: string, labels: string, fires: string, quiet: string): Case => ({
  fires: { [named(name, labels)]: fires },
  quiet: { [named(name, labels)]: quiet },
})
/** Refused connections to an origin, by the minute, of a hundred requests. */
const failures = (refused: string): Series => ({
  [named('origin_failures_total', 'kind="refused"')]: refused,
  [named('request_seconds_count')]: '0+100x90',
})
/** Questions by the minute, and how many of ten of them are solved. */
const questions = (solved: string): Series => ({
  [named('challenges_total', 'rule="ask",outcome="asked"')]: '0+10x1600',
  [named('challenges_total', 'rule="ask",outcome="solved"')]: solved,
})

const BLOCKED = ['decisions_total', 'action="block",enforced="true"'] as const
const FAILED = ['notifications_total', 'kind="origin",outcome="failed"'] as const
const CASES: Readonly<Record<string, Case>> = {
  SallyportDown: { fires: { 'up{job="sallyport"}': '0x90' }, quiet: { 'up{job="sallyport"}': '1x90' } },
  SallyportOriginFailing: { fires: failures('0+10x90'), quiet: failures('0+1x90') },
  SallyportBlocksMore: { ...one(...BLOCKED, '0+1x100 100+600x60', '0+1x160'), at: '150m' },
  SallyportOverloaded: one('refusals_total', 'cause="overload"', '0+120x90', '0+12x90'),
  SallyportSlotsLeak: one('leaked_slots_total', '', '0x60 1x30', '0x90'),
  SallyportDataStale: one('source_stale', 'source="tor"', '1x90', '0x90'),
  SallyportLedgerUncovered: one('ledger_uncovered_records', '', '1200x90', '900x90'),
  SallyportOriginDown: one('origin_up', 'origin="http://10.0.0.1"', '0x90', '1x90'),
  SallyportCertificateExpires: one('certificate_not_after_seconds', 'file="site.pem"', '1000000x90', '2000000x90'),
  SallyportReloadRefused: one('reload_refused', '', '1x90', '0x90'),
  SallyportLogLinesLost: one('log_lost_lines_total', '', '0x60 5x30', '5x90'),
  SallyportChallengesUnsolved: {
    fires: questions('0+8x1500 12000+1x100'),
    quiet: questions('0+8x1500 12000+6x100'),
    at: '1590m',
  },
  SallyportNotificationsFail: one(...FAILED, '0x60 1x30', '0x90'),
}

t.test('every alert has a case', async (t) => {
  t.same(Object.keys(CASES).sort(), [...ALERTS].sort())
})

t.test('every alert fires for what it is about, and for nothing else', { skip: NO_PROMTOOL }, async (t) => {
  const tests = Object.entries(CASES).flatMap(([alert, { fires, quiet, at = '90m' }]) =>
    [fires, quiet].map((series, index) => ({
      name: `${alert} ${index === 0 ? 'fires' : 'is quiet'}`,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: at,
          exp_samples: index === 0 ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
        },
      ],
    })),
  )
  const file = join(t.testdir(), 'tests.yaml')
  writeFileSync(file, stringify({ rule_files: [FILE], evaluation_interval: '5m', tests }))
  t.match(promtool('test', 'rules', file), /SUCCESS/)
})

t.test('promtool reads the alerts and the configuration', { skip: NO_PROMTOOL }, async (t) => {
  t.match(promtool('check', 'rules', FILE), new RegExp(`SUCCESS: ${ALERTS.length} rules found`))
  t.match(promtool('check', 'config', join(ROOT, 'examples/prometheus/prometheus.yaml')), /SUCCESS/)
})
