import { type LimitUse, SallyportError, strikesText } from '@sallyport/core'
import { type Share, takeNewest } from '../shares/share.ts'
import { type Brief, toBrief } from './brief.ts'
import { get, post } from './route.ts'
import { type AddressForm, shownAddress, withoutAddresses } from './shown-address.ts'

const LISTED = 40

/** Lists the last requests that exceeded a limit. */
const LIMITED: Share<object, readonly (Brief & { readonly limits: readonly LimitUse[] })[]> = {
  name: 'limited',
  own(_, { history, sallyport }) {
    const form = sallyport.config.log.addresses
    return history.recent
      .list()
      .filter(({ decision }) => decision?.limits?.some(({ exceeded }) => exceeded))
      .slice(-LISTED)
      .map((one) => {
        const exceeded = one.decision?.limits?.filter((use) => use.exceeded) ?? []
        return { ...toBrief(one, form), limits: withoutAddresses(exceeded, [one.client], form) }
      })
  },
}

/** Serves clients that are banned, or that exceeded a limit. */
export const BAN_ROWS = [
  get('bans', { shares: [LIMITED] }, async (_, { sallyport, gather }) => {
    const form = sallyport.config.log.addresses
    const [bans, { shares }] = await Promise.all([sallyport.bans.list(), gather(LIMITED, {})])
    return {
      bans: bans.map((ban) => ({ ...ban, key: shortenKey(ban.key, form), strikes: strikesText(ban) })),
      limited: takeNewest(shares, LISTED),
      strikes: sallyport.config.policy.strikes ?? null,
    }
  }),
  post('bans/lift', { role: 'steer', takes: ['id'] }, async ({ asked: { id = '' }, audit }, { sallyport }) => {
    if (!(await sallyport.bans.lift(id))) throw new SallyportError('unknown_ban')
    audit('bans lift', { id })
    return { id, lifted: true }
  }),
]

/** Shortens the address in a key, which may hold other parts too. */
function shortenKey(key: string, form: AddressForm): string {
  if (form === 'full') return key
  return key
    .split(/([^0-9a-f.:]+)/i)
    .map((part) => (/[.:]/.test(part) ? shownAddress(part, form) || '…' : part))
    .join('')
}
