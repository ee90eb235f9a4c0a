import { SallyportError } from '@sallyport/core'
import { briefOf } from './brief.ts'
import type { ConsoleParts, Row } from './route.ts'
import { shownAddress, withoutAddresses } from './shown-address.ts'
import { mapOf, memberOf } from './values.ts'

const LISTED = 40

/** Who is refused for a while, and who was beyond a limit. */
export const BAN_ROWS: readonly Row[] = [
  {
    method: 'GET',
    path: 'bans',
    role: 'read',
    async answer(_, parts) {
      const { sallyport } = parts
      const form = sallyport.config.log.addresses
      const bans = await sallyport.bans.list()
      return {
        bans: bans.map((ban) => ({ ...ban, key: shownKey(ban.key, form) })),
        limited: limitedOf(parts),
        strikes: sallyport.config.policy.strikes ?? null,
      }
    },
  },
  {
    method: 'POST',
    path: 'bans/lift',
    role: 'admin',
    async answer({ body, audit }, { sallyport }) {
      const id = memberOf(mapOf(await body()), 'id', 64) ?? ''
      if (!(await sallyport.bans.lift(id))) throw new SallyportError('unknown_ban')
      audit('bans lift', { id })
      return { id, lifted: true }
    },
  },
]

/** A key holds an address beside its kind. */
function shownKey(key: string, form: ConsoleParts['sallyport']['config']['log']['addresses']): string {
  if (form === 'full') return key
  return key
    .split(/([^0-9a-f.:]+)/i)
    .map((part) => (/[.:]/.test(part) ? shownAddress(part, form) || '…' : part))
    .join('')
}

function limitedOf({ history, sallyport }: ConsoleParts) {
  const form = sallyport.config.log.addresses
  return history
    .recent()
    .filter(({ observed }) => observed.decision?.limits?.some(({ exceeded }) => exceeded))
    .slice(-LISTED)
    .reverse()
    .map((one) => {
      const exceeded = one.observed.decision?.limits?.filter((use) => use.exceeded) ?? []
      return { ...briefOf(one, form), limits: withoutAddresses(exceeded, [one.observed.client], form) }
    })
}
