import type { ComponentChildren } from 'preact'
import { now } from '../now.ts'
import { age, clipped, moment, word } from '../words.ts'

/** Shows a part of a view under a heading. */
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

/** Shows an action, class or state as a word in its colour. */
export function Badge({ name, children }: { name: string; children?: ComponentChildren | undefined }) {
  return <span class={`badge ${/^[a-z_]+$/.test(name) ? name : ''}`}>{children ?? word(name)}</span>
}

/** Shows names with values; omits unknown values. */
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

/** Shows a moment as its age, which grows; its title is the moment itself. */
export function Ago({ at }: { at: number | string }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={moment(at)}>
      {age((now.value - time.getTime()) / 1_000)} ago
    </time>
  )
}

/** Describes a column: its heading, its cell in a row, and the class of its cells. `false`: this reader does not see the column. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => ComponentChildren, className?: string] | false

interface TableProps<Row> {
  label: string
  rows: readonly Row[]
  /** Identifies a row. */
  name: (row: Row) => string
  columns: readonly Column<Row>[]
  /** Replaces a table without rows. */
  empty?: ComponentChildren
}

/** Shows a table, without columns that no row fills; on narrow screens each row is a card, whose cells show their heading. */
export function Table<Row>({ label, rows, name, columns, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>
  const shown = columns.filter(
    (column) => column !== false && (rows.length === 0 || rows.some((row) => isFilled(column[1](row)))),
  ) as Exclude<Column<Row>, false>[]
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

function isFilled(cell: ComponentChildren): boolean {
  return Array.isArray(cell) ? cell.length > 0 : cell !== undefined && cell !== null && cell !== false && cell !== ''
}

/** Shows a text with a note below it, both shortened. */
export function Noted({ text, note }: { text: string; note: string | undefined }) {
  return (
    <>
      {clipped(text)} <div class="quiet">{clipped(note)}</div>
    </>
  )
}

/** Says how many processes of a cluster did not respond. */
export function Silent({ count }: { count: number }) {
  return count > 0 && <p class="failure wide">{count} processes did not respond. What they know is missing here.</p>
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
