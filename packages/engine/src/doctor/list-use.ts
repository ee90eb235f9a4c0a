import { counted, givenWords, type ListEntries, listsNamed, type Match } from '@sallyport/core'
import { type Config, listPolicies } from '#config'
import type { KeptList } from '#features/lists'
import { type CheckResult, warn } from '#service'

type EntryKind = keyof Pick<ListEntries, 'addresses' | 'systems' | 'texts'>

/** Each kind of entry has its noun. */
const NOUNS: Readonly<Record<EntryKind, readonly [one: string, many: string]>> = {
  addresses: ['address', 'addresses'],
  systems: ['system', 'systems'],
  texts: ['pattern', 'patterns'],
}

/** These words of a match compare addresses and systems; all others compare patterns. */
const COMPARED: Readonly<Record<string, EntryKind>> = { address: 'addresses', asn: 'systems' }

/** Warns of rules that compare a list with what it does not hold, so that nothing of it ever matches. */
export function unmatchedWarnings(config: Config, lists: ReadonlyMap<string, KeptList>): readonly CheckResult[] {
  return listPolicies(config).flatMap(({ policy, path }) =>
    policy.rules.flatMap(({ id, match }, at) =>
      comparisons(match).flatMap(({ word, name }) => {
        const found = mismatch(lists.get(name)?.entryCounts, COMPARED[word] ?? 'texts')
        if (found === undefined) return []
        const sentence = `The rule "${id}" compares ${word} with the list ${name}, which has ${found}: nothing of it matches.`
        return [warn(sentence, 'Look at the lines of the list.', [...path, 'rules', at].map(String))]
      }),
    ),
  )
}

/** The lists that a match names, each with the word that compares it. */
function comparisons(match: Match): readonly { readonly word: string; readonly name: string }[] {
  const given = [...givenWords({ ...match, not: undefined }), ...givenWords(match.not ?? {})]
  return given.flatMap(({ name: word, value }) => listsNamed(value).map((name) => ({ word, name })))
}

/** `3 patterns and no address`; `undefined` where a list has what is compared, has nothing, or was never read. */
function mismatch(counts: Readonly<Record<EntryKind, number>> | undefined, wanted: EntryKind): string | undefined {
  if (counts === undefined || counts[wanted] > 0) return undefined
  const others = Object.entries(counts).filter(([, count]) => count > 0)
  const nouns = others.map(([kind, count]) => counted(count, ...NOUNS[kind as EntryKind]))
  return nouns.length === 0 ? undefined : `${nouns.join(' and ')} and no ${NOUNS[wanted][0]}`
}
