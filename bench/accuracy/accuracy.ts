import { join } from 'node:path'
import type { AsType, NetworkClass, Snapshot } from '@sallyport/core'
import { compileTables, loadTables, resolveSources } from '@sallyport/engine'
import type { Figure, Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'
import { compareUserAgents } from './agents.ts'
import { judgeEvidence } from './evidence.ts'
import { type Feeds, SUPPLIERS, snapshotFeeds, without } from './feeds.ts'
import { computeScore, type Judged, macroF1, percent, shareFound } from './scores.ts'
import { compareServices, findNetwork, MACHINES } from './services.ts'
import { isSharedDataHere, labelledAddresses, sharedLines, sharedRows } from './shared.ts'

type Classified = readonly Judged<NetworkClass>[]

const HIDDEN: readonly NetworkClass[] = ['tor', 'vpn', 'residential_proxy']
const PEOPLE: readonly NetworkClass[] = ['residential_clean', 'mobile']

/**
 * Network classes and system types against labels, through the real parsers, compile and `classify`. Each class also
 * without the feeds that its labels were drawn from: with them, a figure proves only that files load.
 */
export async function benchAccuracy(run: Run): Promise<void> {
  judgeEvidence(run)
  if (!isSharedDataHere) return run.skip('the labels are not here (SALLYPORT_SHARED_DATA names their folder)')
  await scratch(async (folder) => {
    const feeds = snapshotFeeds(join(folder, 'feeds'))
    const snapshotWith = (configured: Feeds) => compileFeeds(join(folder, 'data'), configured)
    run.step('compiles all feeds')
    const full = await snapshotWith(feeds)
    const bare = await snapshotWith({})

    const found = classifyLabels(full)
    const figures: Figure[] = []
    const classes = Object.entries(SUPPLIERS) as [NetworkClass, readonly string[]][]
    for (const [networkClass, suppliers] of run.pick(classes, classes.slice(0, 1))) {
      run.step(`addresses of ${networkClass}`)
      const judged = {
        'all feeds': found,
        'without its own': classifyLabels(await snapshotWith(without(feeds, suppliers))),
        'no feed': classifyLabels(bare),
      }
      for (const [what, one] of Object.entries(judged)) {
        const score = computeScore(one, [networkClass])
        figures.push(...percent(`\`${networkClass}\``, `${what}, precision`, score.precision))
        figures.push(...percent(`\`${networkClass}\``, `${what}, recall`, score.recall))
      }
    }
    run.table({ title: 'Addresses by class', figures })

    const withoutVpnFeeds = classifyLabels(await snapshotWith(without(feeds, [...SUPPLIERS.vpn, 'gluetun'])))
    run.table({
      title: 'The goals',
      figures: [
        ...goals('all feeds', found, full),
        ...goals('without VPN feeds', withoutVpnFeeds, full),
        ...goals('no feed at all', classifyLabels(bare), bare),
        ...rateTypes(full, bare),
      ],
    })
    if (!run.quick) await compareServices(run, feeds, folder, snapshotWith)
    await compareUserAgents(run)
  })
}

/** Cities say nothing of a class and take seconds. */
const NO_CITIES: Feeds = { 'dbip-city-v4': { enabled: false }, 'dbip-city-v6': { enabled: false } }

async function compileFeeds(dataDir: string, feeds: Feeds): Promise<Snapshot> {
  const { path, sources } = await compileTables({ dataDir, sources: resolveSources({ ...NO_CITIES, ...feeds }) })
  for (const { id, state, reason } of sources) if (state === 'refused') throw new Error(`${id}: ${reason}`)
  return { ...loadTables(path), sources }
}

function classIn(snapshot: Snapshot, text: string): NetworkClass {
  return findNetwork(snapshot, text).verdict.classification
}

function classifyLabels(snapshot: Snapshot): Classified {
  return labelledAddresses().map(({ address, label }) => ({ label, found: classIn(snapshot, address) }))
}

/** The goals apply to the run with all feeds. */
const GOALS: Readonly<Record<string, Goal>> = {
  'anonymising or not, precision': { atLeast: 98 },
  'VPN servers found as `vpn`': { atLeast: 75 },
  'VPN servers found as `vpn` or machines': { atLeast: 97 },
  '`hosting` and `datacenter` as one, F1': { atLeast: 95 },
  'people kept `residential_clean` or `mobile`': { atLeast: 99 },
  '`mobile`, F1': { atLeast: 85 },
}

function goals(feeds: string, judged: Classified, snapshot: Snapshot): readonly Figure[] {
  const relays = sharedLines('tor/tor-relays-non-exit.txt').map((text) => classIn(snapshot, text))
  const shares = {
    'anonymising or not, precision': computeScore(judged, HIDDEN).precision,
    'VPN servers found as `vpn`': shareFound(judged, 'vpn', ['vpn']),
    'VPN servers found as `vpn` or machines': shareFound(judged, 'vpn', ['vpn', ...MACHINES]),
    '`hosting` and `datacenter` as one, F1': computeScore(judged, MACHINES).f1,
    // Reverse names of dynamic lines gave these labels, and SIM cards have such names too.
    'people kept `residential_clean` or `mobile`': shareFound(judged, 'residential_clean', PEOPLE),
    '`mobile`, F1': computeScore(judged, ['mobile']).f1,
    'Tor relays that are no exits, not taken for exits': relays.filter((name) => name !== 'tor').length / relays.length,
  }
  return Object.entries(shares).flatMap(([name, share]) => {
    const goal = feeds === 'all feeds' ? GOALS[name] : undefined
    return percent(name, feeds, share, goal && { goal })
  })
}

/** Rates types of systems against labels, set by hand or by the systems themselves. */
function rateTypes(full: Snapshot, bare: Snapshot): readonly Figure[] {
  const curated = sharedRows('asn-types/curated.csv').map(([asn = '', label = '']) => ({ asn: Number(asn), label }))
  const described = sharedRows('asn-types/oxl-asn-kinds.csv')
    .map(([asn = '', , label = '']) => ({ asn: Number(asn), label }))
    .filter(({ label }) => ['isp', 'hosting', 'education'].includes(label))
  const types = (rows: readonly { asn: number; label: string }[], findType: (asn: number) => AsType) =>
    rows.map(({ asn, label }) => ({ label: label as AsType, found: findType(asn) }))
  const typeIn =
    ({ systems }: Snapshot) =>
    (asn: number): AsType => {
      const index = systems?.indexOf(asn) ?? -1
      return (index < 0 ? undefined : systems?.system(index).type) ?? 'unknown'
    }

  const ways = { 'all feeds': typeIn(full), 'no feed at all': typeIn(bare) }
  return Object.entries(ways).flatMap(([feeds, findType]) => {
    const byHand = types(curated, findType)
    const bySelf = types(described, findType)
    const goal = (atLeast: number) => (feeds === 'all feeds' ? { goal: { atLeast } } : {})
    return [
      ...percent('types of systems labelled by hand, macro-F1', feeds, macroF1(byHand), goal(85)),
      ...percent('types of systems as they describe themselves, macro-F1', feeds, macroF1(bySelf)),
    ]
  })
}
