import type { ComponentChildren } from 'preact'
import { readForm } from './load.tsx'

interface AskProps {
  label: string
  name: string
  /** Holds what was asked last: another value is another form. */
  value: string
  button: string
  onAsk: (asked: Readonly<Record<string, string>>) => void
  children?: ComponentChildren
}

/** Asks what a view should show. */
export function Ask({ label, name, value, button, onAsk, children }: AskProps) {
  return (
    <form class="ask" onSubmit={(event) => onAsk(readForm(event))} key={value}>
      <label>
        {label}
        <input name={name} type="search" defaultValue={value} maxLength={2_048} spellcheck={false} autocomplete="off" />
      </label>
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}
