import { SallyportError } from '../errors.ts'
import { isCountry } from '../geo/country.ts'
import { isRecord } from '../is-record.ts'
import { PLAIN_ACTIONS } from '../vocabulary.ts'
import { type JurisdictionPolicy, MATCH_LISTS, MATCH_SWITCHES, UNKNOWN_COUNTRY } from './policy.ts'

/** An id is part of every record that its rule decides, so it has plain characters only. */
const ID = /^[a-z0-9][a-z0-9_-]*$/i
const MAX_ENTRIES = 1000

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Checks every word of a jurisdiction policy, and that its last rule matches every case. Unknown members are refused in rules, where they
 * would change decisions, and pass as notes elsewhere. Throws `invalid_policy` that names the member.
 */
export function parseJurisdictionPolicy(value: unknown): JurisdictionPolicy {
  const policy = readObject(value, 'policy')
  readId(policy['id'], 'id')
  const groups = readList(policy['groups'], 'groups').map((entry, index) => parseGroup(entry, `groups.${index}`))
  refuseTwice(groups, 'groups')
  const written = readList(policy['rules'], 'rules')
  const rules = written.map((entry, index) => {
    const path = `rules.${index}`
    const rule = readObject(entry, path)
    onlyMembers(rule, ['id', 'match', 'action', 'note'], path)
    if (!PLAIN_ACTIONS.some((action) => action === rule['action'])) refuse(`${path}.action`, PLAIN_ACTIONS.join(', '))
    checkMatch(rule['match'], `${path}.match`, groups)
    return readId(rule['id'], `${path}.id`)
  })
  refuseTwice(rules, 'rules')
  const last = written.at(-1)
  if (last === undefined || Object.keys(readObject(readObject(last, 'rules')['match'], 'match')).length > 0) {
    refuse('rules', 'a list with a last rule with an empty match, so that every case is decided')
  }
  return value as JurisdictionPolicy
}

function parseGroup(value: unknown, path: string): string {
  const group = readObject(value, path)
  for (const code of readList(group['countries'], `${path}.countries`)) {
    if (!isCountryText(code)) refuse(`${path}.countries`, `country codes; not ${JSON.stringify(code)}`)
  }
  const id = readId(group['id'], `${path}.id`)
  if (isCountry(id) || id === UNKNOWN_COUNTRY) refuse(`${path}.id`, `an id that is not a country; not ${id}`)
  return id
}

function checkMatch(value: unknown, path: string, groups: readonly string[]): void {
  const match = readObject(value, path)
  onlyMembers(match, [...Object.keys(MATCH_LISTS), ...MATCH_SWITCHES], path)
  for (const name of MATCH_SWITCHES) {
    if (name in match && typeof match[name] !== 'boolean') refuse(`${path}.${name}`, 'true or false')
  }
  for (const [name, words] of Object.entries(MATCH_LISTS)) {
    if (!(name in match)) continue
    const places = name === 'claim' || name === 'country'
    for (const entry of readList(match[name], `${path}.${name}`)) {
      const known =
        (words as readonly unknown[]).includes(entry) ||
        (places && (isCountryText(entry) || groups.includes(String(entry))))
      if (!known) refuse(`${path}.${name}`, `known words; not ${JSON.stringify(entry)}`)
    }
  }
}

function isCountryText(value: unknown): boolean {
  return typeof value === 'string' && isCountry(value)
}

function readObject(value: unknown, path: string): JsonObject {
  return isRecord(value) ? value : refuse(path, 'a map')
}

function readList(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) && value.length <= MAX_ENTRIES ? value : refuse(path, `a list of at most ${MAX_ENTRIES}`)
}

function readId(value: unknown, path: string): string {
  return typeof value === 'string' && ID.test(value) ? value : refuse(path, 'an id of letters, digits, - and _')
}

function onlyMembers(object: JsonObject, names: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name))
  if (unknown !== undefined) refuse(path, `${names.join(', ')}; not "${unknown}"`)
}

function refuseTwice(ids: readonly string[], path: string): void {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) refuse(path, `each id once; "${twice}" occurs twice`)
}

function refuse(path: string, wanted: string): never {
  throw new SallyportError('invalid_policy', `jurisdiction policy: ${path}: must be ${wanted}`)
}
