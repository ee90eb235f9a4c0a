import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** Shows a button that asks for confirmation before it acts. */
export function Confirm({
  children,
  question,
  disabled,
  onYes,
}: {
  children: ComponentChildren
  question: string
  disabled?: boolean | undefined
  onYes: () => Promise<void> | void
}) {
  const [isAsked, setAsked] = useState(false)
  if (!isAsked) {
    return (
      <button type="button" class="plain" disabled={disabled} onClick={() => setAsked(true)}>
        {children}
      </button>
    )
  }
  return (
    <fieldset class="confirm" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        class="danger"
        onClick={() => {
          setAsked(false)
          void onYes()
        }}
      >
        Yes
      </button>
      <button type="button" class="plain" onClick={() => setAsked(false)}>
        No
      </button>
    </fieldset>
  )
}
