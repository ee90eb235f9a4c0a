import { existsSync } from 'node:fs'
import { readListEntries } from '@sallyport/core'
import { readFault } from '#files'
import type { LocatedFault } from '#settings'
import type { ListConfigs } from './list-config.ts'
import { isInline } from './list-config.ts'

/** Lists that cannot be meant: entries that are none, and files that are not there or none. */
export function listFaults({ lists }: { readonly lists: ListConfigs }): readonly LocatedFault[] {
  return Object.entries(lists).flatMap(([name, list]) => {
    if (isInline(list)) {
      const { unread } = readListEntries(list)
      return unread.map((line) => ({
        path: ['lists', name, line - 1],
        message: `${JSON.stringify(list[line - 1])} is not an address, CIDR, system or pattern`,
      }))
    }
    if (!('file' in list)) return []
    const fault = existsSync(list.file) ? readFault(list.file) : 'is not there'
    return fault === undefined ? [] : [{ path: ['lists', name, 'file'], message: `${list.file} ${fault}` }]
  })
}
