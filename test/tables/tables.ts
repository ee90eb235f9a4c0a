import { ERRORS, type PresetRow, STOP_SCRAPERS, UNDER_ATTACK } from '@sallyport/core'
import { SOURCES } from '@sallyport/data/sources'
import { type Access, FIELDS, METRICS, ROUTES } from '@sallyport/engine'
import { commandTable } from 'sallyport/cli'
import { services } from '../services/table.ts'
import { figures } from './figures.ts'
import { keyTable } from './key-table.ts'
import { cell, code, table, text, value } from './markdown.ts'
import { scalingInputs, scalingSizes } from './scaling.ts'
import { variableTable } from './variable-table.ts'
import { visitors } from './visitors.ts'
import { WANTS } from './wants.ts'
import { WISHES } from './wishes.ts'

const DOCS = 'packages/sallyport/docs'

type Source = (typeof SOURCES)[number]

/** Every table that is made of a schema, by its name, and the document that has it. */
export const TABLES: Readonly<Record<string, { readonly file: string; readonly text: () => string }>> = {
  options: { file: `${DOCS}/options.md`, text: options },
  variables: { file: `${DOCS}/options.md`, text: variables },
  figures: { file: 'README.md', text: figures },
  wants: { file: 'README.md', text: wants },
  routes: { file: `${DOCS}/api.md`, text: routes },
  errors: { file: `${DOCS}/api.md`, text: errors },
  metrics: { file: `${DOCS}/metrics.md`, text: metrics },
  'log-fields': { file: `${DOCS}/log.md`, text: logFields },
  commands: { file: `${DOCS}/commands.md`, text: commands },
  sources: { file: `${DOCS}/sources.md`, text: sources },
  services: { file: `${DOCS}/policy.md`, text: services },
  presets: { file: `${DOCS}/scrapers.md`, text: presets },
  visitors: { file: `${DOCS}/policy.md`, text: visitors },
  wishes: { file: `${DOCS}/policy.md`, text: wishes },
  'scaling-inputs': { file: `${DOCS}/run.md`, text: scalingInputs },
  'scaling-sizes': { file: `${DOCS}/run.md`, text: scalingSizes },
}

/** Keys that share a first part and are fewer need no list of their own. */
const SMALL_GROUP = 7

function options(): string {
  const rows = keyTable()
  const groupName = (key: string) => (/[.[]/.test(key) ? (/^\w+/.exec(key)?.[0] ?? '') : '')
  const countRows = (name: string) => rows.filter(({ key }) => groupName(key) === name).length
  // Small groups share the first list with the keys that have no group.
  const nameSection = (key: string) => (countRows(groupName(key)) < SMALL_GROUP ? '' : groupName(key))
  const sections = [...new Set(rows.map(({ key }) => nameSection(key)))].sort((one, other) => one.localeCompare(other))
  return sections
    .map((section) => {
      const lines = rows.filter(({ key }) => nameSection(key) === section).map(keyLine)
      return `### ${section === '' ? 'Single keys and small groups' : section}\n\n${lines.join('\n')}`
    })
    .join('\n\n')
}

/** Writes a key with its values and default in parentheses, and an example. */
function keyLine(row: ReturnType<typeof keyTable>[number]): string {
  const values = valuesText(row)
    .replace(/^(number.*) \(\w+\)/, '$1')
    .replace(' (share)', '')
    .replace(/(?<=\d) \((\w+)\)/, ' $1')
  const about = values === '' ? text(row.description) : `${text(row.description)} (${text(values)})`
  // A number, a word of a few and a switch need no example.
  const example = /^(?:boolean|time|number|-?\d|[\w-]+, )/.test(values) ? '' : ` ${value(row.example)}`
  return `- ${code(row.key)}${row.live ? '' : ' †'}: ${about}.${example}`
}

/** Writes the values of a key and its default, without what readers expect: text, and no value. */
function valuesText({ values, initial = '' }: ReturnType<typeof keyTable>[number]): string {
  const kinds = values.replace('true or false', 'boolean').replace(/^list: text$/, 'list')
  const parts = [kinds === 'text' ? '' : kinds, ['any', 'none', '[]', '""'].includes(initial) ? '' : initial]
  return parts.filter((part) => part !== '').join('; ')
}

/** Lists the variables that are no keys. The name of a key's variable follows from the key. */
function variables(): string {
  const rows = variableTable().filter(({ key }) => key === undefined)
  const lines = rows.map(({ name, example, description }) => [code(name), cell(description), code(example)])
  return table(['variable', 'what it is', 'example'], lines)
}

const SPANS: Readonly<Record<number, string>> = { 60: 'a minute', 3600: 'an hour', 86400: 'a day' }

function accessText(access: Access): string {
  if (access.kind === 'open') return 'open'
  if (access.kind === 'key') return access.metered ? 'key' : 'key, not counted'
  const { max, windowMs } = access.limit
  return `no key, ${max} ${SPANS[windowMs / 1_000] ?? `in ${windowMs / 1_000} seconds`}`
}

function routes(): string {
  const rows = ROUTES.map(({ method, path, access, summary, example }) => {
    const call = example?.body === undefined ? (example?.path ?? path) : JSON.stringify(example.body)
    return [code(`${method} ${path}`), accessText(access), cell(summary), code(call)]
  })
  return table(['route', 'access', 'what it answers', 'example'], rows)
}

function errors(): string {
  const all = Object.entries(ERRORS).map(([name, { status, message }]) => [code(name), String(status), cell(message)])
  const others = all.flatMap(([name = '', status]) => (status === 'undefined' ? name : []))
  const half = others.length >> 1
  const rows = all.filter(([, status]) => status !== 'undefined')
  const ends = `A start or a command ends with ${others.slice(0, half).join(', ')},\n${others.slice(half).join(', ')}.`
  return `${table(['code', 'status', 'message'], rows)}\n\n${ends}`
}

function metrics(): string {
  const lines = Object.values(METRICS).map(({ name, type, labels, unit, help, example }) => {
    const by = labels.length === 0 ? '' : ` by ${labels.join(', ')}`
    return `- ${code(name)} (${type} of ${unit}${by}): ${text(help)}.${example === name ? '' : ` ${code(example)}`}`
  })
  return lines.join('\n')
}

function logFields(): string {
  const rows = Object.entries(FIELDS).map(([name, row]) => {
    const { description, unit, example, ecs, otel } = { unit: '', otel: row.ecs, ...row }
    const own = `sallyport.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
    const names = [...new Set([ecs, otel])].map((field) => (field === own ? 'own' : code(field)))
    const shown = names.length === 1 && ecs === own ? '' : names.join('; ')
    return [code(name), cell(unit === '' ? description : `${description} (${unit})`), value(example), shown]
  })
  return table(['field', 'what it is', 'example', '`ecs`; `otel`'], rows)
}

/** A list of the commands. `--help` of each shows its options. */
function commands(): string {
  return commandTable()
    .map(({ usage, description, example }) => `- ${code(usage)}: ${text(description)}. ${code(example)}`)
    .join('\n')
}

/** Licences that the text above the lists explains. */
const LICENCES: Readonly<Record<string, string>> = {
  'none stated': '',
  'none stated; published for this use': 'published',
  'bgp.tools terms: attribution and a User-Agent that says who asks': 'bgp.tools terms',
}

function sources(): string {
  const findGroup = ({ kind, networkClass }: Source) => (networkClass === undefined ? kind : `${kind}: ${networkClass}`)
  return [...new Set(SOURCES.map(findGroup))]
    .map((group) => `### ${group}\n\n${sourceLines(SOURCES.filter((row) => findGroup(row) === group))}`)
    .join('\n\n')
}

/** Writes a line for sources of one licence that are refreshed alike. `data status --all` has their titles. */
function sourceLines(rows: readonly Source[]): string {
  const alike = new Map<string, string[]>()
  for (const row of rows) {
    const facts = [askedText(row), text(LICENCES[row.licence] ?? row.licence)].filter((fact) => fact !== '')
    const key = facts.join('; ') || 'no licence stated'
    alike.set(key, [...(alike.get(key) ?? []), code(row.id)])
  }
  return [...alike].flatMap(([facts, ids]) => joinInLines(ids).map((line) => `- ${facts}: ${line}`)).join('\n')
}

function joinInLines(ids: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const id of ids) {
    const last = lines.at(-1)
    if (last === undefined || last.length + id.length > 220) lines.push(id)
    else lines[lines.length - 1] = `${last}, ${id}`
  }
  return lines
}

/** Returns nothing for a daily feed; otherwise `every 1 h`, `not refreshed`, `off`, or `off, needs a key`. */
function askedText({ enabled, key, refreshHours }: Source): string {
  if (!enabled) return key ? 'off, needs a key' : 'off'
  if (refreshHours === undefined) return 'not refreshed'
  return refreshHours === 24 ? '' : `every ${refreshHours} h`
}

/** Rows of both presets under one id differ in how much they let through. */
function presets(): string {
  const all = [...UNDER_ATTACK, ...STOP_SCRAPERS]
  const rows = [...new Map(all.map((row) => [row.id, row])).values()].map(({ id, why }) => {
    const [one, other] = [STOP_SCRAPERS, UNDER_ATTACK].map((preset) => readEffect(preset.find((row) => row.id === id)))
    return [code(id), one || 'none', one === other ? '' : other || 'none', cell(why)]
  })
  return table(['rule', '`stop-scrapers`', '`under-attack`, if different', 'reason'], rows)
}

const SCOPES = ['client', 'prefix', 'asn', 'class'] as const

/** `throttle beyond 60/–/600`. */
function readEffect(row: PresetRow | undefined): string {
  if (row === undefined) return ''
  const { action, then, limit, pages = {}, perMinute = {} } = row
  const bounds = [...boundsIn(pages, ' pages'), ...boundsIn(perMinute, row.pages === undefined ? '' : ' requests')]
  // Some have one count alone, of a key of its own.
  if (limit !== undefined) {
    const what = limit.count === undefined ? '' : ' pages'
    const key = Array.isArray(limit.key) ? 'client' : limit.key
    bounds.push(`${limit.max}${what} per ${key}${limit.window === '1m' ? '' : ` in ${limit.window}`}`)
  }
  const beyond = bounds.length === 0 ? action : `${action} beyond ${bounds.join(', ')}`
  return then === undefined ? beyond : `${then}; ${beyond}`
}

/** Writes `60/240 pages` for 60 of a client and 240 of a prefix. A dash means that a scope has no bound. */
function boundsIn(given: NonNullable<PresetRow['perMinute']>, unit: string): readonly string[] {
  const found = SCOPES.map((scope) => given[scope]?.toLocaleString('en') ?? '–').join('/')
  const bound = found.replace(/(?:\/?–)+$/, '')
  return bound === '' ? [] : [bound + unit]
}

function wishes(): string {
  const rows = WISHES.map(({ wish, rules }) => [cell(wish), rules.map(code).join('<br>')])
  return table(['task', 'rules'], rows)
}

function wants(): string {
  const rows = WANTS.map(({ want, policy, command }) => [cell(want), code(policy), code(command)])
  return table(['you want', 'below `policy`', 'the command'], rows)
}
