import { joinAlike, table } from '../tables/markdown.ts'
import type { Way } from './copied.ts'
import type { League, Row } from './league.ts'
import type { Tool } from './tools.ts'

/** The words for a refused page, by the action of the decision. */
const REFUSALS: Readonly<Record<string, string | undefined>> = {
  challenge: 'challenge',
  throttle: '429',
  block: 'block',
}

/** The outcome of a visit: the number of pages that were served, and the refusal of the others. */
export function outcomeText({ visit, fault, pages }: Row): string {
  if (visit === undefined) return 'failed'
  const refusal = visit.asked.map(({ decision }) => REFUSALS[decision.action]).find((word) => word !== undefined)
  if (visit.served === pages) return refusal === undefined ? `${pages}` : `${pages} solved`
  const rest = refusal ?? (fault === undefined ? 'nothing' : 'failed')
  return visit.served === 0 ? rest : `${visit.served}, ${rest}`
}

/** The texts for hosting, VPN and home; one where they are equal. */
function together(texts: readonly string[]): string {
  return new Set(texts).size === 1 ? (texts[0] ?? '') : texts.join(' / ')
}

const TITLES: Readonly<Partial<Record<Way, string>>> = {
  own: 'As they are',
  'user-agent': 'With the user agent of Chrome',
  all: 'With all headers of Chrome',
}

const SHORT: Readonly<Partial<Record<Way, string>>> = { own: 'as they are', 'user-agent': 'user agent', all: 'headers' }

/** The documents' part that a run writes: a table of sums, and one for each way. */
export function leagueText({ rows, absent }: League, date: string): string {
  const ways = [...new Set(rows.map(({ way }) => way))]
  const presets = [...new Set(rows.map(({ preset }) => preset))]
  const networks = [...new Set(rows.map(({ network }) => network))]
  const tools = [...new Set(rows.map(({ tool }) => tool))]
  const at = (tool: Tool, way: Way) => rows.filter((row) => row.tool === tool && row.way === way)
  const parts = ways.map((way) => {
    const lines = tools.flatMap((tool) => {
      const own = at(tool, way)
      const [first] = own
      if (first === undefined) return []
      const cells = presets.map((preset) =>
        together(own.filter((row) => row.preset === preset).map((row) => outcomeText(row))),
      )
      const chances = networks.map((network) => probability(own.find((row) => row.network === network)))
      return [[tool.name, together(chances), ...cells]]
    })
    const head = ['tools', 'probability', ...presets.map((name) => `\`${name}\``)]
    return `## ${TITLES[way] ?? way}\n\n${table(head, joinAlike(lines))}`
  })
  const missing = absent.map(({ name }) => name).join(', ')
  const versions = tools.flatMap((tool) => {
    const found = rows.find((row) => row.tool === tool)?.version
    return found === undefined ? [] : [`${tool.name} ${found}`]
  })
  const run = `Run on ${date} with ${versions.join(', ')}${missing === '' ? '' : `; not installed: ${missing}`}.`
  return [wrapLine(run), sums(rows, ways), ...parts].join('\n\n')
}

/** Breaks a sentence between its parts, because the page has no line above 300 characters. */
function wrapLine(sentence: string): string {
  return sentence.replace(/(.{1,140})(?: |$)/g, '$1\n').trimEnd()
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
      return own.length === 0 ? [] : [{ kind, way, own, count: new Set(own.map(({ tool }) => tool)).size }]
    }),
  )
  const head = columns.map(({ kind, way, count }) => `${count} ${KINDS[kind]}, ${SHORT[way] ?? way}`)
  const presets = [...new Set(rows.map(({ preset }) => preset))]
  const networks = [...new Set(rows.map(({ network }) => network))]
  const lines = presets.map((preset) => [
    `\`${preset}\``,
    ...columns.map(({ own }) =>
      together(
        networks.map((network) => {
          const here = own.filter((row) => row.preset === preset && row.network === network)
          return String(here.filter(({ visit, pages }) => visit?.served === pages).length)
        }),
      ),
    ),
  ])
  return table(['who got every page', ...head], lines)
}
