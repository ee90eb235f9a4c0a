import type { PolicyFault } from '../language/fault.ts'
import { isLiteral } from '../language/text-pattern.ts'
import { isFixedPlace } from '../paths/fixed-place.ts'
import type { Rule } from '../policy.ts'
import type { Match } from '../words/match-words.ts'

/** Rules whose challenge nobody meets, or whose challenge no page can show because no navigation of a browser matches them. */
export function challengeWarnings({ id, action, match }: Rule, index: number): readonly PolicyFault[] {
  if (action !== 'challenge') return []
  const word = WORDS.find(({ name, isMissed }) => match[name] !== undefined && isMissed(match))
  if (word === undefined) return []
  return [{ path: ['rules', index, 'match', word.name], rule: id, message: word.message }]
}

const UNSHOWN =
  'every request that matches gets 403 in JSON, which programs and pages with pass.js can solve and nobody else: use block, or match navigations too'

interface Word {
  readonly name: keyof Match
  /** Whether every request that has the word is one without a page. */
  isMissed(match: Match): boolean
  readonly message: string
}

/** Methods of links and forms. */
const NAVIGATING: readonly string[] = ['GET', 'HEAD', 'POST']
const FORM_TYPES: readonly string[] = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']
const SCRIPT_FIELDS: readonly string[] = [
  'upgrade',
  'sec-websocket-key',
  'sec-purpose',
  'purpose',
  'service-worker',
  'x-moz',
]
const PROVEN: readonly string[] = ['verified_crawler']

const WORDS: readonly Word[] = [
  {
    name: 'path',
    isMissed: ({ path = [] }) => path.length > 0 && path.every(isFixedPlace),
    message: 'its paths are never challenged, because programs fetch them at a fixed place',
  },
  {
    name: 'class',
    isMissed: ({ class: given = [] }) => isOnly(given, PROVEN),
    message: 'proven crawlers are never challenged',
  },
  {
    name: 'crawlerOutcome',
    isMissed: ({ crawlerOutcome: given = [] }) => isOnly(given, ['verified', 'pending']),
    message: 'a crawler that is proven, or whose check is running, is never challenged',
  },
  {
    name: 'method',
    isMissed: ({ method: given = [] }) => isNone(given, (one) => NAVIGATING.includes(one.toUpperCase())),
    message: `browsers open pages by GET and POST alone: ${UNSHOWN}`,
  },
  {
    name: 'contentType',
    isMissed: ({ contentType: given = [] }) =>
      isNone(given, (one) => !isLiteral(one) || FORM_TYPES.includes(one.toLowerCase())),
    message: `forms have other types: ${UNSHOWN}`,
  },
  {
    name: 'header',
    isMissed: ({ header: { present = [] } = {} }) => present.some((one) => SCRIPT_FIELDS.includes(one.toLowerCase())),
    message: `no page is opened with such a header: ${UNSHOWN}`,
  },
  {
    name: 'headerValue',
    isMissed: ({ headerValue = {} }) =>
      Object.entries(headerValue).some(([name, given]) => {
        const shown = SHOWN[name.toLowerCase()]
        return shown !== undefined && isNone(given, (one) => !isLiteral(one) || shown.test(one))
      }),
    message: `no page is opened with such a header: ${UNSHOWN}`,
  },
  {
    name: 'purpose',
    isMissed: ({ purpose = [] }) => purpose.length > 0,
    message: `programs that name themselves show no page: ${UNSHOWN}`,
  },
  {
    name: 'crawler',
    isMissed: ({ crawler = [] }) => crawler.length > 0,
    message: `programs that name themselves show no page: ${UNSHOWN}`,
  },
]

/** Values of fields with which browsers open pages. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  accept: /text\/html/i,
  upgrade: /^$/,
  'sec-fetch-mode': /^(?:navigate|same-origin)$/i,
  'sec-fetch-dest': /^(?:document|empty|i?frame)$/i,
}

function isOnly(given: readonly string[], allowed: readonly string[]): boolean {
  return given.length > 0 && given.every((one) => allowed.includes(one))
}

function isNone(given: readonly string[], isShown: (value: string) => boolean): boolean {
  return given.length > 0 && !given.some(isShown)
}
