import type { ComponentChildren } from 'preact'
import { percent, shortCount } from '../words.ts'
import { Empty } from './pieces.tsx'

export interface Bar {
  readonly name: string
  readonly count: number
  readonly shown?: ComponentChildren | undefined
  /** Names an action or class, which sets the colour. */
  readonly tone?: string | undefined
}

/** Shows counts as bars, the largest first, as shares of `whole`. */
export function Bars({ rows, whole, nothing }: { rows: readonly Bar[]; whole?: number | undefined; nothing: string }) {
  const present = rows.filter(({ count }) => count > 0).toSorted((x, y) => y.count - x.count)
  if (present.length === 0) return <Empty>{nothing}</Empty>
  const largest = present[0]?.count ?? 1
  return (
    <ul class="bars">
      {present.map(({ name, count, shown, tone }) => (
        <li key={name}>
          <span class="name">{shown ?? name}</span>
          <span class="amount">
            {shortCount(count)}
            {whole !== undefined && <small> {percent(count, whole)}</small>}
          </span>
          <progress class={tone ?? ''} value={count} max={largest} aria-label={name} />
        </li>
      ))}
    </ul>
  )
}
