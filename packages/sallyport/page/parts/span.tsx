import { Plain } from './buttons.tsx'

/** Names the spans of what is counted by the hour. */
export const REPORT_SPANS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const
export type ReportSpan = keyof typeof REPORT_SPANS

/** Pause between two requests for a report, which the service writes every five seconds. */
export const REPORT_MS = 15_000

interface SpanChoiceProps<Name extends string> {
  spans: Readonly<Record<Name, string>>
  span: Name
  onSpan: (span: Name) => void
}

/** Lets the visitor choose a span of time. */
export function SpanChoice<Name extends string>({ spans, span, onSpan }: SpanChoiceProps<Name>) {
  return (
    <fieldset class="choices" aria-label="Time span">
      {Object.entries<string>(spans).map(([name, text]) => (
        <Plain key={name} aria-pressed={span === name} onClick={() => onSpan(name as Name)}>
          {text}
        </Plain>
      ))}
    </fieldset>
  )
}
