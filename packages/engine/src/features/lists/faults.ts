import { existsSync } from 'node:fs'
import { everybodyListed, type ListEntries, readListEntries } from '@sallyport/core'
import { readFault } from '#files'
import type { LocatedFault } from '#settings'
import type { ListConfigs } from './list-config.ts'
import { isInline } from './list-config.ts'

/** Lists that cannot be meant: everybody, entries that are none, and files that are not there or none. */
export function listFaults({ lists }: { readonly lists: ListConfigs }): readonly LocatedFault[] {
  return Object.entries(lists).flatMap(([name, list]) => {
    if (isInline(list)) {
      const { unread, prefixes } = readListEntries(list)
      const whole = everybodyFault(prefixes)
      return [
        ...(whole === undefined ? [] : [{ path: ['lists', name], message: whole }]),
        ...unread.map((line) => ({
          path: ['lists', name, line - 1],
          message: `${JSON.stringify(list[line - 1])} is not an address, CIDR, AS number or pattern`,
        })),
      ]
    }
    if (!('file' in list)) return []
    const fault = existsSync(list.file) ? readFault(list.file) : 'does not exist'
    return fault === undefined ? [] : [{ path: ['lists', name, 'file'], message: `${list.file} ${fault}` }]
  })
}

/** Why a configuration holds nobody apart; `undefined` where it does. */
export function everybodyFault(prefixes: ListEntries['prefixes']): string | undefined {
  const everybody = everybodyListed(prefixes)
  return everybody && `covers most of IPv${everybody}, so a rule with this list matches everybody`
}
