import { counted, givenWords, type ListEntries, listsNamed } from '@sallyport/core'
import { type Config, listPolicies } from '#config'
import type { KeptList } from '#features/lists'
import { type CheckResult, warn } from '#service'

type EntryKind = keyof ListEntries['firstLines']

/** Each kind of entry has its noun. */
const NOUNS: Readonly<Record<EntryKind, readonly [one: string, many: string]>> = {
  addresses: ['address', 'addresses'],
  systems: ['system', 'systems'],
  texts: ['pattern', 'patterns'],
}

/** These words of a match compare addresses and systems; all others compare patterns. */
const COMPARED: Readonly<Record<string, EntryKind>> = { address: 'addresses', asn: 'systems' }

/** Warns of entries that no rule compares, so that they never match, and of rules that compare what a list does not hold. */
export function unmatchedWarnings(config: Config, lists: ReadonlyMap<string, KeptList>): readonly CheckResult[] {
  const compared = listPolicies(config).flatMap(({ policy, path }) =>
    policy.rules.flatMap(({ id, match }, at) => {
      const use = { id, path: [...path, 'rules', at].map(String) }
      return [...givenWords({ ...match, not: undefined }), ...givenWords(match.not ?? {})].flatMap(
        ({ name: word, value }) =>
          listsNamed(value).map((name) => ({ ...use, word, name, kind: COMPARED[word] ?? 'texts' })),
      )
    }),
  )
  return [...lists].flatMap(([name, { entryCounts = {} }]) => {
    const uses = compared.filter((use) => use.name === name)
    const found = Object.entries(entryCounts).filter(([, [count]]) => count > 0) as [EntryKind, [number, number]][]
    const idle = uses.filter(({ kind }) => found.length > 0 && found.every(([held]) => held !== kind))
    const unused = found.filter(([held]) => uses.length > idle.length && uses.every(({ kind }) => kind !== held))
    const nouns = (rows: typeof found) => rows.map(([held, [count]]) => counted(count, ...NOUNS[held])).join(' and ')
    return [
      ...idle.map(({ id, word, kind, path }) => {
        const sentence = `The rule "${id}" never matches: it compares ${word} with the list ${name}, which has ${nouns(found)} but no ${NOUNS[kind][0]}.`
        return warn(sentence, 'Check the lines of the list.', path)
      }),
      ...unused.map((row) => {
        const first = row[1][1] > 0 ? `, the first on line ${row[1][1]},` : ''
        const words = [...new Set(uses.map(({ word }) => word))].join(' and ')
        const sentence = `Some entries of the list ${name} never match: it has ${nouns([row])}${first} but rules compare it with ${words}.`
        return warn(sentence, 'Check these lines, or use the list in a condition of their kind.', ['lists', name])
      }),
    ]
  })
}
