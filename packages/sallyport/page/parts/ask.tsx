import type { ComponentChildren, ComponentProps } from 'preact'
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
      <Field label={label} name={name} type="search" defaultValue={value} maxLength={2_048} spellcheck={false} />
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}

/** Shows an input behind its label. Browsers complete it only where it says so. */
export function Field({ label, ...input }: { label: string } & ComponentProps<'input'>) {
  return (
    <label>
      {label}
      <input autocomplete="off" {...input} />
    </label>
  )
}

/** Lists the choices of a select, each with its text. */
export function listOptions(choices: readonly (readonly [value: string, text: string])[]) {
  return choices.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}
