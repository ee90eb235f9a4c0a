/*
 * A small detector of verbs in English comments. It knows the verbs that this repository uses, and errs towards finding one: what
 * it calls a comment without a verb has none.
 */

const AUXILIARIES =
  'is are was were be been has have had does do did can cannot may must will would shall should could might isn doesn don'

/** Verbs that are hardly ever nouns here, in their base form. */
const VERBS = `accept add admit advise agree allow append apply arrive ask assume avoid become begin belong block bring build carry choose clear
  close collect come compare compile compute concern connect consist contain continue convert create decide declare decode delete
  deliver depend describe die differ disappear encode ensure enter erase exceed exclude exist expect expire explain fail fall fetch
  fill find finish follow forbid forget forward get give go grow happen hear help ignore include inspect install judge keep know
  lack learn leave let lie load lose make mean meet miss need negotiate obey occur omit outlive parse pay permit prefer prevent
  protect prove publish put raise receive recognise refer reject refuse reload rely remain remember remove rename renew repeat
  replace require reset resolve respect restart retry reveal rewrite say see seem select send serve shrink skip speak spend steer
  strip suffice suit take tell throw treat try understand unwrap verify vouch wake want warn weigh win wrap write yield`

/** Forms that rules of spelling do not make. */
const IRREGULAR =
  'became began brought built came chose did fell found gave got held kept knew led left lost made meant met paid put ran read said saw sent stood took told went wrote written'

/** Words that are nouns as often: verbs at the start of a sentence, or in front of an article. */
const EITHER = `answer attempt ban bound break call cap cause challenge change check claim clock close copy cost count cover cut date default
  delay deny drop end excuse export fault fit flag free group guard guess head hold host issue label last lead limit line link list
  live lock log look lower map mark match measure merge mode move name note number offer open order own part pass place point policy
  post promise pull push queue range rate reach read record report request rest result return rule run sample set share show sign
  sort source split spread stamp stand start state stay step stop store strike sum test time trace trap trust turn type update use
  value visit wait work`

const ARTICLES = 'a an the each every no one its it them their what whether which who how all any as on only'.split(' ')

const listWords = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')

function thirdPerson(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return verb.replace(/y$/, 'ies')
  return /(?:s|x|z|ch|sh|o)$/.test(verb) ? `${verb}es` : `${verb}s`
}

function past(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return verb.replace(/y$/, 'ied')
  return verb.endsWith('e') ? `${verb}d` : `${verb}ed`
}

const FINITE = new Set([
  ...listWords(AUXILIARIES),
  ...listWords(IRREGULAR),
  ...listWords(VERBS).flatMap((verb) => [verb, thirdPerson(verb), past(verb)]),
])

const AMBIGUOUS = new Set(listWords(EITHER).flatMap((verb) => [verb, thirdPerson(verb), past(verb)]))

/** Reports whether a text has a verb. Code in backquotes is no word. */
export function hasVerb(text: string): boolean {
  const sentences = text
    .toLowerCase()
    .replaceAll(/`[^`]*`/g, 'it')
    .split(/[.:;!?](?:\s|$)|\(/)
  return sentences.some((sentence) => {
    const words = sentence.match(/[a-z]+/g) ?? []
    return words.some((word, at) => {
      if (FINITE.has(word) || /(?:ifies|izes|ises)$/.test(word)) return true
      return AMBIGUOUS.has(word) && (at === 0 || ARTICLES.includes(words[at + 1] ?? ''))
    })
  })
}
