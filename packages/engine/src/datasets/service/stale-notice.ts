import { counted, DAY_MS, isStale, type SourceStatus } from '@sallyport/core'
import { isShippedTable, shippedTablesAge } from './feed-status.ts'
import type { DataConfig } from './feeds.ts'

/** Returns a notice of data that is too old or missing, with its age and the command that renews it; `undefined` if all is well. */
export function staleNotice(
  { data, net, dataDir }: Omit<DataConfig, 'trustProxy'>,
  sources: readonly SourceStatus[],
  { cities, now }: { readonly cities: boolean; readonly now: number },
): string | undefined {
  const loaded = sources.filter(({ state }) => state === 'loaded')
  const stale = loaded.filter((source) => isStale(source, now) && !isShippedTable(source, now))
  const shipped = shippedTablesAge(loaded, now)
  const missing = data.city && !cities
  if (stale.length === 0 && shipped === undefined && !missing) return undefined
  const [oldest] = stale
    .flatMap(({ id, date }) => (date === undefined ? [] : [{ id, date }]))
    .sort((one, other) => (one.date < other.date ? -1 : 1))
  const days = Math.max(0, Math.floor((now - Date.parse(oldest?.date ?? '')) / DAY_MS))
  const are = stale.length === 1 ? 'is' : 'are'
  const parts = [
    stale.length > 0 && `${stale.length} of ${counted(loaded.length, 'data source')} ${are} stale`,
    oldest && `the oldest, ${oldest.id}, is ${counted(days, 'day')} old (${oldest.date})`,
    shipped !== undefined && `bundled networks and countries are ${counted(shipped, 'day')} old`,
    missing && 'no city database is loaded',
  ]
  const command = `npx sallyport data update --data-dir ${JSON.stringify(dataDir)}`
  const renews =
    data.refresh && net.outbound && !data.readOnly
      ? 'This service downloads newer data. To update now, run'
      : 'To update, run'
  const notice = parts.filter(Boolean).join('; ')
  return `${notice[0]?.toUpperCase()}${notice.slice(1)}. ${renews} ${command}`
}
