import type { Got } from '../api.ts'
import { Badge } from './pieces.tsx'

export type Source = Got<'data'>['sources'][number]

/** Shows whether a source is loaded and current. */
export function SourceState({ source: { state, stale, shipped, date } }: { source: Source }) {
  if (stale) return <Badge name={shipped ? 'shipped' : 'stale'}>{shipped ? `bundled, ${date}` : 'stale'}</Badge>
  return <Badge name={state === 'refused' ? 'fail' : state}>{state}</Badge>
}

/** Says why a source is not loaded, or what failed. */
export function SourceTrouble({ source: { state, error, reason } }: { source: Source }) {
  const text = error ?? reason
  return text !== undefined && <div class={error || state === 'refused' ? 'failure' : 'quiet'}>{text}</div>
}
