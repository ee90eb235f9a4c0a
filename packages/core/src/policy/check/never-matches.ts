import { type Fault, faultsAt } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import { isBareExpression } from '../language/text-pattern.ts'
import { collectFaults } from '../language/values.ts'
import type { Rule } from '../policy.ts'
import { JA4_FAMILIES } from '../words/claims.ts'
import { givenWords, type Match } from '../words/match-words.ts'

export function neverWarnings({ match: { not = {}, ...match } }: Rule): readonly Fault[] {
  const clash = contradiction(match, not)
  return faultsAt(
    ['match'],
    [
      ...(clash === undefined ? [] : [{ path: [], message: `the rule never matches: ${clash}` }]),
      ...patternWarnings(match),
      ...faultsAt(['not'], patternWarnings(not)),
    ],
  )
}

function contradiction(match: Match, not: Match): string | undefined {
  const { present = [], absent = [] } = match.header ?? {}
  const name = present.find((field) => absent.some((other) => other.toLowerCase() === field.toLowerCase()))
  if (name !== undefined) return `the header ${name} cannot be both present and absent`
  const [only, ...others] = givenWords(not)
  if (only === undefined || others.length > 0) return undefined
  const wanted = givenWords(match).find((word) => word.name === only.name)?.value
  const { value } = only
  const isNegated = Array.isArray(wanted) && Array.isArray(value) && wanted.every((one) => value.includes(one))
  return isNegated ? `not excludes every ${only.name} that match requires` : undefined
}

/** Tells for each word which patterns no value can match, and how its values are written. */
const WRITTEN: Readonly<Record<string, readonly [isNone: (pattern: string) => boolean, advice: string]>> = {
  userAgent: [() => false, ''],
  host: [(host) => /[/\s]/.test(host) || host.split(':').length === 2, 'a host has no scheme, path or port'],
  referer: [(url) => !/[:*]/.test(url), 'a referer is a full URL, which a pattern such as "*spam.example*" matches'],
  contentType: [(type) => !/[/*]/.test(type), 'a media type has the form application/json'],
  language: [(tag) => !/^[a-z]{1,3}(?:-[\w-]{1,40})?$|\*/i.test(tag), 'a language has the form de or de-AT'],
  ja4: [
    (print) => !/[_*]/.test(print) && !JA4_FAMILIES.includes(print),
    `a fingerprint has underscores, and the families are ${JA4_FAMILIES.join(', ')}`,
  ],
}

function patternWarnings(match: Match): readonly Fault[] {
  return givenWords(match).flatMap(({ name, value }) => {
    const [isNone, advice] = WRITTEN[name] ?? []
    if (isNone === undefined || !Array.isArray(value)) return []
    const faults = collectFaults(value, (pattern: string) => {
      const isExpression = isBareExpression(pattern)
      if (listName(pattern) !== undefined || pattern.startsWith('/') || !(isExpression || isNone(pattern)))
        return undefined
      const message = isExpression ? `a regular expression needs slashes: "/${pattern}/i"` : advice
      return `${JSON.stringify(pattern)} never matches: ${message}`
    })
    return faultsAt([name], faults)
  })
}
