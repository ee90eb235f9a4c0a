/** Spans of what is counted by the hour. */
export const REPORT_SPANS = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const
export type ReportSpan = keyof typeof REPORT_SPANS

/** How often a report is asked for again: it is written every five seconds. */
export const REPORT_MS = 15_000

/** A choice of the span of a report. */
export function SpanChoice({ span, onSpan }: { span: ReportSpan; onSpan: (span: ReportSpan) => void }) {
  return (
    <fieldset class="choices" aria-label="Time span">
      {Object.entries(REPORT_SPANS).map(([name, text]) => (
        <button
          key={name}
          type="button"
          class="plain"
          aria-pressed={span === name}
          onClick={() => onSpan(name as ReportSpan)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}
