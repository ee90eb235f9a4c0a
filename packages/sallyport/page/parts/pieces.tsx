import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
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
          <div key={name}>
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

/** A table; on narrow screens each row is a card, whose cells show the heading of their column. */
export function Table({
  label,
  head,
  children,
}: {
  label: string
  head: readonly string[]
  children: ComponentChildren
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  useLayoutEffect(() => {
    for (const { cells } of body.current?.rows ?? []) {
      for (const cell of cells) cell.dataset['head'] = head[cell.cellIndex] ?? ''
    }
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </section>
  )
}
