import { joinAlike, table } from '../tables/markdown.ts'
import type { Way } from './copied.ts'
import type { League, Row } from './league.ts'
import type { Tool } from './tools.ts'

/** The outcome of a visit: the number of pages that were served, and the refusal of the others. */
function outcomeText({ visit, fault, pages }: Row): string {
  if (visit === undefined) return 'failed'
  const refusals = visit.asked.map(({ decision }) => decision.action).filter((action) => REFUSALS.includes(action))
  const refusal = refusals[0]?.replace('throttle', '429')
  if (visit.served === pages) return refusal === undefined ? `${pages}` : `${pages} solved`
  const rest = refusal ?? (fault === undefined ? 'nothing' : 'failed')
  return visit.served === 0 ? rest : `${visit.served}, ${rest}`
}

const REFUSALS = ['challenge', 'throttle', 'block']

/** The texts for hosting, VPN and home; one where they are equal. */
function together(texts: readonly string[]): string {
  return new Set(texts).size === 1 ? (texts[0] ?? '') : texts.join(' / ')
}

/** Names a way in a title, and in the head of a column. */
const TITLES: Readonly<Partial<Record<Way, readonly [long: string, short: string]>>> = {
  own: ['As they are', 'as they are'],
  'user-agent': ['With the user agent of Chrome', 'user agent'],
  all: ['With all headers of Chrome', 'headers'],
}

const listUnique = <T>(rows: readonly Row[], read: (row: Row) => T): readonly T[] => [...new Set(rows.map(read))]

/** The documents' part that a run writes: a table of sums, and one for each way. */
export function leagueText({ rows, absent }: League, date: string): string {
  const ways = listUnique(rows, ({ way }) => way)
  const presets = listUnique(rows, ({ preset }) => preset)
  const networks = listUnique(rows, ({ network }) => network)
  const tools = listUnique(rows, ({ tool }) => tool)
  const parts = ways.map((way) => {
    const lines = tools.flatMap((tool) => {
      const own = rows.filter((row) => row.tool === tool && row.way === way)
      if (own.length === 0) return []
      const cells = presets.map((preset) => together(own.filter((row) => row.preset === preset).map(outcomeText)))
      const chances = networks.map((network) => probability(own.find((row) => row.network === network)))
      return [[tool.name, together(chances), ...cells]]
    })
    const head = ['tools', 'probability', ...presets.map((name) => `\`${name}\``)]
    return `## ${TITLES[way]?.[0] ?? way}\n\n${table(head, joinAlike(lines))}`
  })
  const missing = absent.map(({ name }) => name).join(', ')
  const versions = listUnique(rows, ({ tool, version }) => `${tool.name} ${version}`)
  const run = `Run on ${date} with ${versions.join(', ')}${missing === '' ? '' : `; not installed: ${missing}`}.`
  // The page has no line above 300 characters.
  const lines = run.replace(/(.{1,140})(?: |$)/g, '$1\n').trimEnd()
  return [lines, sums(rows, ways), ...parts].join('\n\n')
}

/** The probability at the first request that the client is a program. */
function probability(row: Row | undefined): string {
  const [first] = row?.visit?.asked ?? []
  return first === undefined ? '–' : first.decision.inspection.agent.botProbability.toFixed(2)
}

const KINDS = { client: 'clients', mimic: 'impersonators', browser: 'browsers' } as const

/** How many tools of each kind got all pages, from each network. */
function sums(rows: readonly Row[], ways: readonly Way[]): string {
  const columns = (Object.keys(KINDS) as readonly Tool['kind'][]).flatMap((kind) =>
    ways.flatMap((way) => {
      const own = rows.filter((row) => row.tool.kind === kind && row.way === way)
      return own.length === 0 ? [] : [{ kind, way, own, count: listUnique(own, ({ tool }) => tool).length }]
    }),
  )
  const head = columns.map(({ kind, way, count }) => `${count} ${KINDS[kind]}, ${TITLES[way]?.[1] ?? way}`)
  const presets = listUnique(rows, ({ preset }) => preset)
  const networks = listUnique(rows, ({ network }) => network)
  const isWhole = ({ visit, pages }: Row) => visit?.served === pages
  const countWhole = (own: readonly Row[], preset: string, network: string) =>
    String(own.filter((row) => row.preset === preset && row.network === network && isWhole(row)).length)
  const lines = presets.map((preset) => [
    `\`${preset}\``,
    ...columns.map(({ own }) => together(networks.map((network) => countWhole(own, preset, network)))),
  ])
  return table(['who got every page', ...head], lines)
}
