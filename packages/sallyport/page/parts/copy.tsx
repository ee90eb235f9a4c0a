import { useState } from 'preact/hooks'

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
    <button type="button" class="plain" onClick={copy} aria-live="polite">
      {said ?? children}
    </button>
  )
}
