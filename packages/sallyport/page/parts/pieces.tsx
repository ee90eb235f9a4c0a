import type { ComponentChildren } from 'preact'
import { now } from '../now.ts'
import { age, moment, word } from '../words.ts'

/** A part of a view under a heading. */
export function Card({
  title,
  aside,
  wide,
  children,
}: {
  title: string
  aside?: ComponentChildren | undefined
  wide?: boolean | undefined
  children: ComponentChildren
}) {
  return (
    <section class={wide ? 'card wide' : 'card'} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}

/** An action, class or state as a word with its colour. */
export function Badge({ name, children }: { name: string; children?: ComponentChildren | undefined }) {
  return <span class={`badge ${/^[a-z_]+$/.test(name) ? name : ''}`}>{children ?? word(name)}</span>
}

/** Names with values; what is not known is left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={`${name} ${String(value)}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** A moment as its distance from now, which grows; the moment itself is its title. */
export function Ago({ at }: { at: number | string }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={moment(at)}>
      {age((now.value - time.getTime()) / 1_000)} ago
    </time>
  )
}

/** A column: its heading, its cell in a row, and the class of its cells. `false`: this reader has no such column. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => ComponentChildren, className?: string] | false

interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  /** Tells a row from the others. */
  name: (row: Row) => string
  columns: readonly Column<Row>[]
  /** Shown where there are no rows. */
  empty?: ComponentChildren
}

/** A table; on narrow screens each row is a card, whose cells show the heading of their column. */
export function Table<Row>({ label, rows, name, columns, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>
  const shown = columns.filter((column) => column !== false)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {shown.map(([head]) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={name(row)}>
              {shown.map(([head, cell, className]) => (
                <td key={head} data-head={head} class={className}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
