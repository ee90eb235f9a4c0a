import { useState } from 'preact/hooks'

/** Copies a text, and says on itself whether it could. */
export function CopyButton({ text, children }: { text: string; children: string }) {
  const [said, setSaid] = useState<string | undefined>(undefined)
  const copy = (): void => {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    copied.then(
      () => setSaid('Copied'),
      () => setSaid('The browser does not let it be copied'),
    )
  }
  return (
    <button type="button" class="plain" onClick={copy} aria-live="polite">
      {said ?? children}
    </button>
  )
}
