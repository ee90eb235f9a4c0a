import { type LimitUse, SallyportError, strikesText } from '@sallyport/core'
import type { Share } from '../shares/share.ts'
import { type Brief, toBrief } from './brief.ts'
import { takeNewest } from './newest.ts'
import { type ConsoleParts, row } from './route.ts'
import { shownAddress, withoutAddresses } from './shown-address.ts'
import { readMember } from './values.ts'

const LISTED = 40

interface Limited extends Brief {
  readonly limits: readonly LimitUse[]
}

/** Lists the last requests that exceeded a limit. */
const LIMITED: Share<object, readonly Limited[]> = {
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
  row({
    method: 'GET',
    path: 'bans',
    role: 'read',
    shares: [LIMITED],
    async answer(_, { sallyport, gather }) {
      const form = sallyport.config.log.addresses
      const [bans, { shares }] = await Promise.all([sallyport.bans.list(), gather(LIMITED, {})])
      return {
        bans: bans.map((ban) => ({ ...ban, key: shortenKey(ban.key, form), strikes: strikesText(ban) })),
        limited: takeNewest(shares, LISTED),
        strikes: sallyport.config.policy.strikes ?? null,
      }
    },
  }),
  row({
    method: 'POST',
    path: 'bans/lift',
    role: 'steer',
    takes: ['id'],
    async answer({ body, audit }, { sallyport }) {
      const id = readMember(await body(), 'id', 64) ?? ''
      if (!(await sallyport.bans.lift(id))) throw new SallyportError('unknown_ban')
      audit('bans lift', { id })
      return { id, lifted: true }
    },
  }),
]

/** Shortens the address in a key, which may hold other parts too. */
function shortenKey(key: string, form: ConsoleParts['sallyport']['config']['log']['addresses']): string {
  if (form === 'full') return key
  return key
    .split(/([^0-9a-f.:]+)/i)
    .map((part) => (/[.:]/.test(part) ? shownAddress(part, form) || '…' : part))
    .join('')
}
