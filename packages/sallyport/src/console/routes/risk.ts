import type { ObservedRequest, Reason } from '@sallyport/core'
import { type Share, takeNewest } from '../shares/share.ts'
import { get } from './route.ts'
import { type AddressForm, withoutAddresses } from './shown-address.ts'

const LISTED = 50
/** Limits the events that a process reports; an account under attack has more. */
const TOLD = 500
const SHOWN_REASONS = 6

/** Lists the last events that put an account at risk. */
const EVENTS: Share<object, readonly RiskyEvent[]> = {
  name: 'events',
  own: (_, { history, sallyport }) =>
    history.events
      .list()
      .slice(-TOLD)
      .flatMap((one) => describeEvent(one, sallyport.config.log.addresses)),
}

type RiskyEvent = ReturnType<typeof describeEvent>[number]

/** Describes an event of an account, which is named by its keyed hash. */
function describeEvent({ decision, client, at }: ObservedRequest, form: AddressForm) {
  const event = decision?.inspection.event
  const [account] = event?.identifiers ?? []
  if (decision === undefined || event === undefined || account === undefined) return []
  const { action, enforced, trial, reasons } = decision
  const tried: Reason | undefined = trial && {
    id: `policy:${trial.rule}`,
    text: `Dry run: rule "${trial.rule}" would ${trial.action}.`,
  }
  const deciding = action === 'allow' ? undefined : reasons[0]
  const all = [...(tried ? [tried] : []), ...(deciding ? [deciding] : []), ...event.reasons]
  return [
    {
      at,
      account,
      from: client,
      event: event.event,
      isFailure: event.outcome !== undefined && event.outcome !== 'success',
      /** Names the action that was taken, or that monitor mode and trials would have taken. */
      action: trial?.action ?? action,
      isTrial: trial !== undefined || !enforced,
      reasons: withoutAddresses(all, [client], form),
    },
  ]
}

/** Sums up what happened to an account. */
function sumAccount(account: string, events: readonly RiskyEvent[]) {
  const newest = events.toSorted((one, other) => other.at - one.at)
  const reasons = new Map(newest.flatMap((one) => one.reasons.map((reason) => [reason.id, reason] as const)))
  const count = (holds: (one: RiskyEvent) => boolean) => events.filter(holds).length
  return {
    account,
    events: [...new Set(newest.map(({ event }) => event))],
    failures: count(({ isFailure }) => isFailure),
    challenged: count(({ action, isTrial }) => action === 'challenge' && !isTrial),
    refused: count(({ action, isTrial }) => (action === 'block' || action === 'throttle') && !isTrial),
    would: count(({ action, isTrial }) => action !== 'allow' && action !== 'flag' && isTrial),
    addresses: new Set(events.map(({ from }) => from)).size,
    reasons: [...reasons.values()].slice(0, SHOWN_REASONS),
    at: newest[0]?.at ?? 0,
  }
}

/** Serves accounts whose logins and other events failed, or were stopped. */
export const RISK_ROWS = [
  get('risk', { shares: [EVENTS] }, async (_, { gather }) => {
    const { shares, silent } = await gather(EVENTS, {})
    const accounts = new Map<string, RiskyEvent[]>()
    for (const one of shares.flat()) accounts.set(one.account, [...(accounts.get(one.account) ?? []), one])
    const rows = [...accounts].map(([account, events]) => sumAccount(account, events))
    return { accounts: takeNewest([rows], LISTED), silent }
  }),
]
