import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type NamedType, type SystemShape, typeByRule } from '@sallyport/core'
import type { HostLikeness, LikenessMeasure } from '@sallyport/data/host-likeness'
import { measureOutlines } from '../../src/datasets/compile/outlines.ts'
import { collectParts } from '../../src/datasets/compile/parts.ts'
import { resolveSources } from '../../src/datasets/index.ts'
import { readContents } from '../../src/datasets/parse/contents.ts'
import { readSource } from '../../src/datasets/sources/source-file.ts'
import { computeOdds, type Fit, fit } from './logistic.ts'

/*
 * Run by hand where the labels are (`SALLYPORT_SHARED_DATA` names their folder): fits data/host-likeness.json to systems that
 * describe themselves, and says in its `source` how well a fit to four fifths of them knows the last fifth.
 */

const LABELS = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../../shared/data')
const OUT = join(import.meta.dirname, '../../../../../data/host-likeness.json')

/** Steps of each measure begin at these values. */
const STEPS: Readonly<Record<LikenessMeasure, readonly number[]>> = {
  asn: [0, 30_000, 131_072, 140_000, 196_608, 203_000, 209_000, 262_144, 327_680, 393_216, 398_000],
  addressesPerPrefix: [0, 512, 1024, 2048, 4096, 8192, 16_384],
  ipv4Prefixes: [1, 2, 4, 8, 16, 32],
  ipv4Blocks: [1, 2, 3, 5, 9],
  countries: [0, 1, 2, 3, 5],
  ipv6Prefixes: [0, 1, 3, 8],
  neighbours: [-1, 0, 10, 20, 30, 40, 55],
}
const MEASURES = Object.keys(STEPS) as readonly LikenessMeasure[]

/** Banks, firms and offices by name: they are seldom among systems that describe themselves, and are no hosts. */
const FIRMS = 1_500
const FOLDS = 5
/** Least share of hosts among what is taken for hosts, by group. */
const RIGHT = { unnamed: 0.75, weaklyNamed: 0.8 } as const
type Group = keyof typeof RIGHT
const GROUPS = Object.keys(RIGHT) as readonly Group[]

interface System {
  readonly is: boolean
  /** Whether it said of itself what it is: these alone are judged. */
  readonly isSelf: boolean
  readonly group: Group | undefined
  readonly features: readonly string[]
}

function readRows(path: string): readonly (readonly string[])[] {
  return readFileSync(join(LABELS, path), 'utf8')
    .split('\n')
    .map((line) => [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((field) => field[1] ?? field[2] ?? ''))
}

/** The systems that say of themselves what they are: whether each is a host. */
function labels(): ReadonlyMap<number, boolean> {
  const kinds = readRows('asn-types/oxl-asn-kinds.csv').filter(([, , kind = '']) =>
    /^(isp|hosting|education)$/.test(kind),
  )
  return new Map(kinds.map(([asn, , kind]) => [Number(asn), kind === 'hosting']))
}

/** Systems and registrations as they are installed, without any list. */
function readOutlines() {
  const collector = collectParts()
  for (const { row, file } of resolveSources()) {
    if (file === undefined || (row.kind !== 'asn' && row.kind !== 'asn-country')) continue
    collector.add(row, file, readContents(row, { path: file.path, bytes: readSource(file) }))
  }
  return measureOutlines(collector.parts)
}

function readSystems(): readonly System[] {
  const { asns, rules, readShape } = readOutlines()
  const self = labels()
  let firms = 0
  return [...asns].flatMap((asn, index) => {
    const rule = rules[index]
    const shape = readShape(index)
    const isKnown = typeByRule(asn, rule).basis === 'operator' || shape.ipv4Prefixes === 0
    const is = self.get(asn)
    const isFirm = is === undefined && rule?.type === 'unknown' && asn % 7 === 0 && firms++ < FIRMS
    if (isKnown || (is === undefined && !isFirm)) return []
    return [{ is: is ?? false, isSelf: is !== undefined, group: findGroup(rule), features: countSteps(asn, shape) }]
  })
}

function findGroup(rule: NamedType | undefined): Group | undefined {
  if (rule === undefined) return 'unnamed'
  return rule.type === 'isp' && rule.weak ? 'weaklyNamed' : undefined
}

function countSteps(asn: number, shape: SystemShape): readonly string[] {
  return MEASURES.map((measure) => {
    const value =
      measure === 'asn'
        ? asn
        : measure === 'addressesPerPrefix'
          ? shape.ipv4Addresses / shape.ipv4Prefixes
          : shape[measure]
    return `${measure} ${STEPS[measure].findLast((step) => step <= value)}`
  })
}

interface Tested extends System {
  readonly odds: number
}

/** Computes the odds of each system by a fit to the others. */
function crossTest(systems: readonly System[]): readonly Tested[] {
  return Array.from({ length: FOLDS }, (_, fold) => {
    const others = fit(systems.filter((_, at) => at % FOLDS !== fold))
    const mine = systems.filter((_, at) => at % FOLDS === fold)
    return mine.map((system) => ({ ...system, odds: computeOdds(others, system.features) }))
  }).flat()
}

/** The least odds of a group at which enough of those that are taken are hosts, and the shares there. */
function findThreshold(group: Group, tested: readonly Tested[]) {
  const judged = tested.filter((system) => system.isSelf && system.group === group).sort((x, y) => y.odds - x.odds)
  const hosts = judged.filter(({ is }) => is).length
  let best = { least: Number.POSITIVE_INFINITY, found: 0, hosts, taken: 0, others: judged.length - hosts }
  let found = 0
  for (const [at, { is, odds }] of judged.entries()) {
    if (is) found++
    if (found >= RIGHT[group] * (at + 1)) best = { ...best, least: odds, found, taken: at + 1 }
  }
  return best
}

function makeTable({ start, weights }: Fit, least: HostLikeness['least'], source: string): HostLikeness {
  const points = (feature: string) => Math.round(10 * (weights.get(feature) ?? 0))
  return {
    date: new Date().toISOString().slice(0, 7),
    source,
    start: Math.round(10 * start),
    points: Object.fromEntries(
      MEASURES.map((measure) => [measure, STEPS[measure].map((step) => [step, points(`${measure} ${step}`)])]),
    ),
    least,
  } as unknown as HostLikeness
}

const systems = readSystems()
const tested = crossTest(systems)
const said = GROUPS.map((group) => ({ group, ...findThreshold(group, tested) }))
const named = { unnamed: 'whose name says nothing', weaklyNamed: 'with a weak word' }
const least = Object.fromEntries(
  said.map(({ group, least }) => [group, Math.round(10 * least)]),
) as HostLikeness['least']
const source = `A logistic regression over ${systems.length} systems: those that describe themselves as access, hosting or education (O-X-L/risk-db-lists, one half), and firms and offices by name as counterexamples; five-fold, ${said
  .map(
    ({ group, found, hosts, taken, others }) =>
      `of ${hosts} hosts ${named[group]} it finds ${found}, of ${others} others it takes ${taken - found}`,
  )
  .join('; ')}`
writeFileSync(OUT, `${JSON.stringify(makeTable(fit(systems), least, source), null, 2)}\n`)
