import type { MailFacts } from '../values/account-event.ts'
import type { Reason } from '../values/reason.ts'
import type { Travel } from './travel.ts'
import type { JudgedLogin } from './user-memory.ts'

/** A reason rests on such data. */
export type Dated = Pick<Reason, 'source' | 'date'>

/** Holds facts about an event, with their sources. */
export interface EventFacts {
  readonly judged?: JudgedLogin | undefined
  readonly mail: MailFacts
  readonly domain?: string | undefined
  readonly disposable?: Dated | undefined
  readonly places?: Dated | undefined
}

/** Explains the facts of an event to the operator. */
export function explainEvent({ judged, mail, domain, disposable = {}, places = {} }: EventFacts): readonly Reason[] {
  const reasons: Reason[] = []
  const add = (id: string, text: string, dated: Dated = {}): void =>
    void reasons.push(Object.freeze({ id: `account:${id}`, text, ...dated }))
  if (judged?.travel !== undefined) add('travel', travelText(judged.travel), places)
  if (judged?.facts.known === false && judged.fresh.length === 0) add('unknown', 'No login of this user is remembered.')
  for (const kind of judged?.fresh ?? []) add(`novel_${kind}`, NOVEL[kind])
  if (judged?.facts.dormant) add('dormant', 'The user has not logged in for 60 days or more.')
  if (mail.disposable) add('disposable', `The domain ${domain} gives throwaway mail addresses.`, disposable)
  if (mail.alias) add('alias', 'The mail address is an alias of another one, by the rules of its provider.')
  if (mail.noMx) add('no_mx', `The domain ${domain} takes no mail.`)
  if (mail.newDomain) add('new_domain', `This service first saw the domain ${domain} within the last week.`)
  return Object.freeze(reasons)
}

const NOVEL = {
  network: 'The user never logged in from this network.',
  country: 'The user never logged in from this country.',
  browser: 'The user never logged in with this kind of browser.',
} as const

function travelText({ from, to, kilometres, minutes, confidence }: Travel): string {
  const place = ({ city, country, network, confidence }: Travel['from']) =>
    `${city === undefined ? '' : `${city}, `}${country} (${network}, confidence ${confidence})`
  return (
    `No flight explains two logins: ${place(from)}, and ${minutes} minutes later ${place(to)}, at least ${kilometres} km apart; ` +
    `confidence ${confidence}.`
  )
}

/** Weighs facts for the risk, 0 to 1, and names them in a table. Actions ignore these weights: rules decide. A country has no weight. */
const FACTS: Readonly<Record<string, { readonly weight: number; readonly label: string }>> = {
  travel: { weight: 0.6, label: 'logins that no flight explains' },
  disposable: { weight: 0.5, label: 'a throwaway mail address' },
  no_mx: { weight: 0.4, label: 'a mail domain that takes no mail' },
  novel_network: { weight: 0.15, label: 'a network that is new for the user' },
  novel_country: { weight: 0, label: 'a country that is new for the user' },
  novel_browser: { weight: 0.15, label: 'a kind of browser that is new for the user' },
  unknown: { weight: 0.1, label: 'a user without a remembered login' },
  new_domain: { weight: 0.1, label: 'a mail domain first seen within a week' },
  dormant: { weight: 0.1, label: 'a user away for 60 days or more' },
  alias: { weight: 0.05, label: 'an alias of a mail address' },
}

/** Names a reason against an event in a table: a fact in words, a rule or a limit of the policy by its id, any other reason unchanged. */
export function labelEventReason(id: string): string {
  const [kind, ...rest] = id.split(':')
  const name = rest.join(':')
  if (kind === 'policy') return `the rule "${name}"`
  return (kind === 'account' ? FACTS[name]?.label : undefined) ?? id
}

/** Actions of rules have these risks, which exceed the facts where a count decided. */
const ACTION_RISK: Readonly<Record<string, number>> = { flag: 0.4, challenge: 0.6, throttle: 0.7, block: 0.9 }

/** Adds up the risk of an event, 0 to 1, from its facts and its network; it is at least the risk of its action. */
export function eventRisk(reasons: readonly Reason[], action: string, isAnonymous: boolean): number {
  const safe = reasons.reduce(
    (rest, { id }) => rest * (1 - (FACTS[id.slice('account:'.length)]?.weight ?? 0)),
    isAnonymous ? 0.8 : 1,
  )
  return Math.round(Math.max(1 - safe, ACTION_RISK[action] ?? 0) * 100) / 100
}
