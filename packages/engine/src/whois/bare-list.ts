import type { Line } from './lines.ts'
import { hostsIn, isAddressLike } from './values.ts'

/**
 * The servers of an answer that is a list of them without a label: each line to the end has a server's name and addresses, after
 * one and the same word (`example ns1.example.net`) or none. A word that is not the domain's own counts where it is there twice.
 */
export function bareServers(lines: readonly Line[], domain: string | undefined): readonly string[] {
  const rows = lines
    .filter(({ text, comment }) => text !== '' && !comment)
    .map(({ text }) =>
      text
        .toLowerCase()
        .slice(0, 300)
        .split(/[\s,]+/),
    )
  const list = rows.slice(rows.findIndex((words) => serverIn(words) !== undefined))
  const servers = list.flatMap((words) => serverIn(words) ?? [])
  const [before = ''] = list[0] ?? []
  const named = list.every(([word]) => word === before)
  const isOwn = named && domain?.split('.', 1)[0] === before
  const isList = servers.length === list.length && (named || list.every(([word], at) => word === servers[at]))
  return isList && servers.length >= (isOwn ? 1 : 2) ? servers : []
}

/** The server that a line of such a list names. */
function serverIn([first = '', second = '', ...rest]: readonly string[]): string | undefined {
  if (!rest.every(isAddressLike)) return undefined
  const [name] = hostsIn(second)
  return name ?? (isAddressLike(second) ? hostsIn(first)[0] : undefined)
}
