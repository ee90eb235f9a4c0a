import type { Span, Tracer } from '@opentelemetry/api'
import type { Inspector } from '@sallyport/core'

/** The tracer of OpenTelemetry, which does nothing before an SDK is registered; `undefined` where it is not installed. */
export async function openTracer(): Promise<Tracer | undefined> {
  try {
    const { trace } = await import('@opentelemetry/api')
    return trace.getTracer('sallyport')
  } catch {
    return undefined
  }
}

/** An inspector whose decisions are spans within the one that is active, as that of the server's request. */
export function traced(inspector: Inspector, tracer: Tracer | undefined): Inspector {
  if (tracer === undefined) return inspector
  return {
    ...inspector,
    decide(request, others) {
      const span = tracer.startSpan('sallyport.decide')
      try {
        const decision = inspector.decide(request, others)
        if (span.isRecording()) describe(span, decision)
        return decision
      } finally {
        span.end()
      }
    },
  }
}

/** Names as in the decision log with `format: otel`; no address. */
function describe(span: Span, { id, action, enforced, reasons, inspection }: ReturnType<Inspector['decide']>): void {
  const { agent, network } = inspection
  span.setAttributes({
    'sallyport.action': action,
    'sallyport.enforced': enforced,
    'sallyport.rule': reasons[0]?.id.replace(/^policy:/, '') ?? '',
    'sallyport.class': agent.class,
    'sallyport.bot_probability': agent.botProbability,
    'sallyport.network_class': network.verdict.classification,
    ...(network.asn === undefined ? {} : { 'sallyport.asn': network.asn }),
    ...(id === undefined ? {} : { 'sallyport.request_id': id }),
  })
}
