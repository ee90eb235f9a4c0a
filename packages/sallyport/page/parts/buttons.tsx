import type { ComponentChildren, ComponentProps } from 'preact'
import { useState } from 'preact/hooks'

/** Shows a button of less weight than the one that submits. */
export function Plain(props: ComponentProps<'button'>) {
  return <button type="button" class="plain" {...props} />
}

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
      <Plain disabled={disabled} onClick={() => setAsked(true)}>
        {children}
      </Plain>
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
      <Plain onClick={() => setAsked(false)}>No</Plain>
    </fieldset>
  )
}

/** Copies a text, and shows whether that succeeded. */
export function CopyButton({ text, children }: { text: string; children: string }) {
  const [said, setSaid] = useState<string | undefined>(undefined)
  const copy = (): void => {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    copied.then(
      () => setSaid('Copied'),
      () => setSaid('The browser blocks copying'),
    )
  }
  return (
    <Plain onClick={copy} aria-live="polite">
      {said ?? children}
    </Plain>
  )
}
