import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Address,
  AS_TYPES,
  type AsType,
  classify,
  NETWORK_CLASSES,
  type NetworkClass,
  parseAddress,
  type Snapshot,
} from '@sallyport/core'
import { compileTables, loadTables, resolveSources } from '@sallyport/datasets'
import { keywordClass, keywordType, listClass } from './baselines.ts'
import { type Feeds, only, SUPPLIERS, snapshotFeeds, without } from './feeds.ts'
import { printPublishedMachines } from './published-machines.ts'
import { confusion, type Judged, macroF1, percent, scoreOf, shareFound } from './scores.ts'
import { printServices } from './services.ts'
import { isSharedDataHere, labelledAddresses, sharedLines, sharedRows } from './shared.ts'

type Classified = readonly Judged<NetworkClass>[]
type Judge = (address: Address, snapshot: Snapshot) => NetworkClass

const HIDDEN: readonly NetworkClass[] = ['tor', 'vpn', 'residential_proxy']
const MACHINES: readonly NetworkClass[] = ['hosting', 'datacenter']

/**
 * Network classes and system types against labels, through the real parsers, compile and `classify`. Each class also
 * without the feeds that its labels were drawn from: with them, a figure proves only that files load.
 */
export async function benchAccuracy(): Promise<void> {
  if (!isSharedDataHere) {
    console.log('\naccuracy: SKIPPED, the labels are not here (SALLYPORT_SHARED_DATA names their folder)')
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-accuracy-'))
  try {
    const feeds = snapshotFeeds(join(folder, 'feeds'))
    const snapshotWith = (configured: Feeds) => compiled(join(folder, 'data'), configured)
    const full = await snapshotWith(feeds)
    const bare = await snapshotWith({})
    const lists = await snapshotWith(only(feeds, ['x4bnet-vpn-ipv', 'x4bnet-dc-ipv']))

    const found = classifyLabels(full)
    console.log('\naddresses, all feeds: what is so (rows), what was found (columns)')
    console.table(confusion(found, NETWORK_CLASSES))
    console.log('addresses by class: with all feeds, without the feeds that supplied its labels, and the baselines')
    const rows: Record<string, object> = {}
    for (const [networkClass, suppliers] of Object.entries(SUPPLIERS) as [NetworkClass, readonly string[]][]) {
      const unsupplied = classifyLabels(await snapshotWith(without(feeds, suppliers)))
      rows[networkClass] = {
        'all feeds': precisionAndRecall(found, networkClass),
        'without its own': precisionAndRecall(unsupplied, networkClass),
        'embedded alone': precisionAndRecall(classifyLabels(bare), networkClass),
        'X4BNet lists alone': precisionAndRecall(classifyLabels(lists, byList), networkClass),
        'keywords alone': precisionAndRecall(classifyLabels(bare, byKeyword), networkClass),
      }
    }
    console.table(rows)

    const withoutVpnFeeds = classifyLabels(await snapshotWith(without(feeds, SUPPLIERS.vpn)))
    console.log('the goals')
    console.table(
      transposed({
        'all feeds': goals(found, full),
        'without VPN feeds': goals(withoutVpnFeeds, full),
        'embedded alone': goals(classifyLabels(bare), bare),
        'X4BNet lists alone': goals(classifyLabels(lists, byList), lists, byList),
      }),
    )
    await printServices(feeds, folder, snapshotWith)
    await printPublishedMachines(feeds, folder, snapshotWith)
    printTypes(full, bare)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Cities say nothing of a class and take seconds. */
const NO_CITIES: Feeds = { 'dbip-city-v4': { enabled: false }, 'dbip-city-v6': { enabled: false } }

async function compiled(dataDir: string, feeds: Feeds): Promise<Snapshot> {
  const { path, sources } = await compileTables({ dataDir, sources: resolveSources({ ...NO_CITIES, ...feeds }) })
  for (const { id, state, reason } of sources) if (state === 'refused') throw new Error(`${id}: ${reason}`)
  return { ...loadTables(path), sources }
}

const byClassify: Judge = (address, snapshot) => classify(address, snapshot).verdict.classification
const byList: Judge = (address, { networks }) => listClass(networks?.find(address)?.range)
const byKeyword: Judge = (address, { networks }) => keywordClass(networks?.find(address)?.system)

function classifyLabels(snapshot: Snapshot, judge: Judge = byClassify): Classified {
  return labelledAddresses().map(({ address, label }) => ({ label, found: judge(parsed(address), snapshot) }))
}

function parsed(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new Error(`not an address: ${text}`)
  return address
}

function precisionAndRecall(judged: Classified, networkClass: NetworkClass): string {
  const { precision, recall } = scoreOf(judged, [networkClass])
  return `P ${percent(precision)}  R ${percent(recall)}`
}

function goals(judged: Classified, snapshot: Snapshot, judge: Judge = byClassify): Record<string, string> {
  const relays = sharedLines('tor/tor-relays-non-exit.txt').map((text) => judge(parsed(text), snapshot))
  return {
    'anonymising, precision': percent(scoreOf(judged, HIDDEN).precision),
    'VPN as vpn': percent(shareFound(judged, 'vpn', ['vpn'])),
    'VPN as vpn or machines': percent(shareFound(judged, 'vpn', ['vpn', ...MACHINES])),
    'machines, F1': percent(scoreOf(judged, MACHINES).f1),
    'homes kept homes': percent(shareFound(judged, 'residential_clean', ['residential_clean'])),
    'homes kept home or mobile': percent(shareFound(judged, 'residential_clean', ['residential_clean', 'mobile'])),
    'mobile, F1': percent(scoreOf(judged, ['mobile']).f1),
    'Tor relays that are no exits, as tor': percent(relays.filter((name) => name === 'tor').length / relays.length),
  }
}

function printTypes(full: Snapshot, bare: Snapshot): void {
  const curated = sharedRows('asn-types/curated.csv').map(([asn = '', label = '']) => ({ asn: Number(asn), label }))
  const described = sharedRows('asn-types/oxl-asn-kinds.csv')
    .map(([asn = '', , label = '']) => ({ asn: Number(asn), label }))
    .filter(({ label }) => ['isp', 'hosting', 'education'].includes(label))
  const types = (rows: readonly { asn: number; label: string }[], typeOf: (asn: number) => AsType) =>
    rows.map(({ asn, label }) => ({ label: label as AsType, found: typeOf(asn) }))
  const typeIn = (snapshot: Snapshot) => (asn: number) => systemOf(snapshot, asn)?.type ?? 'unknown'
  const byName = (asn: number) => keywordType(systemOf(bare, asn)?.name ?? '')

  console.log('types of systems labelled by hand, all feeds')
  console.table(confusion(types(curated, typeIn(full)), AS_TYPES))
  const rows = Object.fromEntries(
    Object.entries({ 'all feeds': typeIn(full), 'embedded alone': typeIn(bare), 'keywords alone': byName }).map(
      ([name, typeOf]) => {
        const byHand = types(curated, typeOf)
        const bySelf = types(described, typeOf)
        return [
          name,
          {
            'by hand: macro-F1': percent(macroF1(byHand)),
            'education, precision': percent(scoreOf(byHand, ['education']).precision),
            'government, precision': percent(scoreOf(byHand, ['government']).precision),
            'described by themselves: macro-F1': percent(macroF1(bySelf)),
            ...Object.fromEntries(
              (['isp', 'hosting', 'education'] as const).map((type) => {
                const { precision, recall } = scoreOf(bySelf, [type])
                return [type, `P ${percent(precision)}  R ${percent(recall)}`]
              }),
            ),
          },
        ]
      },
    ),
  )
  const byShape = described.filter(({ asn }) => systemOf(full, asn)?.basis === 'shape')
  const right = byShape.filter(({ label }) => label === 'hosting').length
  console.log(`systems typed by their outline alone: ${right} of ${byShape.length} call themselves hosts`)
  console.log('types of systems: labelled by hand, and as networks describe themselves')
  console.table(transposed(rows))
}

/** Rows and columns changed, so that a table of few columns and long names fits a page. */
function transposed(columns: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const names = Object.keys(Object.values(columns)[0] ?? {})
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(Object.entries(columns).map(([column, values]) => [column, values[name]])),
    ]),
  )
}

function systemOf({ systems }: Snapshot, asn: number) {
  const index = systems?.indexOf(asn) ?? -1
  return index === -1 ? undefined : systems?.system(index)
}
