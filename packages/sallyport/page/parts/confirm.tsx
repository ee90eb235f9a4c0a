import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A button that asks once more before it does something. */
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
      <button type="button" class="danger" disabled={disabled} onClick={() => setAsked(true)}>
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
