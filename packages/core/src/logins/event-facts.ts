import { ACCOUNT_FACTS, type InspectedEvent, MAIL_FACTS } from '../values/account-event.ts'

type EventFacts = Pick<InspectedEvent, 'account' | 'mail'>

const NAMES = { account: ACCOUNT_FACTS, mail: MAIL_FACTS } as const

/** Lists every fact of an event, as rules, logs and tests name it. */
export const EVENT_FACTS: readonly string[] = Object.entries(NAMES).flatMap(([kind, names]) =>
  names.map((name) => `${kind}.${name}`),
)

/** Lists the known facts of an event: `account.known` for one that holds, `!account.known` for one that does not. */
export function listEventFacts(event: EventFacts): readonly string[] {
  return (['account', 'mail'] as const).flatMap((kind) =>
    Object.entries(event[kind]).flatMap(([name, value]) =>
      value === undefined ? [] : [`${value ? '' : '!'}${kind}.${name}`],
    ),
  )
}

/** Reads the facts that `listEventFacts` wrote; it leaves out other texts. */
export function parseEventFacts(texts: readonly string[]): EventFacts {
  const read = (kind: keyof EventFacts) =>
    Object.fromEntries(
      NAMES[kind].flatMap((name) => {
        const text = texts.find((one) => one === `${kind}.${name}` || one === `!${kind}.${name}`)
        return text === undefined ? [] : [[name, !text.startsWith('!')]]
      }),
    )
  return { account: read('account'), mail: read('mail') }
}
