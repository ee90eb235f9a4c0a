import type { ComponentChildren } from 'preact'
import { word } from '../words.ts'

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

/** A table that scrolls within itself on narrow screens. */
export function Table({
  label,
  head,
  children,
}: {
  label: string
  head: readonly string[]
  children: ComponentChildren
}) {
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
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
