import { counted } from '@sallyport/core'
import type { ServiceEvent } from '#service'

/** Refusals are counted by spans of this length. */
export const SPAN_MS = 300_000

/** Spans that are remembered: two hours. */
const MAX_SPANS = 24
/** Before so many spans have passed nobody knows what is usual. */
const LEAST_SPANS = 3

/** A span is a spike where it has so many times what is usual, and so many at least. */
const FACTOR = 5
const LEAST = 100

/** Takes counts of requests that were refused or asked; returns an event once in a span that is far above usual. */
export function createSpikeWatch(now: () => number): (count: number) => ServiceEvent | undefined {
  const began = findSpan(now())
  /** Counts by span, of those that had any. */
  const spans = new Map<number, number>()
  let last = Number.NEGATIVE_INFINITY

  function usual(current: number): number | undefined {
    const first = Math.max(began + 1, current - MAX_SPANS)
    const passed = Array.from({ length: Math.max(0, current - first) }, (_, at) => spans.get(first + at) ?? 0)
    return passed.length < LEAST_SPANS ? undefined : median(passed)
  }

  return (count) => {
    const current = findSpan(now())
    const total = (spans.get(current) ?? 0) + count
    spans.set(current, total)
    for (const span of spans.keys()) if (span < current - MAX_SPANS) spans.delete(span)
    if (last === current || total < LEAST) return undefined
    const before = usual(current)
    if (before === undefined || total < FACTOR * before) return undefined
    last = current
    const text = `${counted(total, 'request')} were blocked or challenged within five minutes; the usual number is ${before}.`
    return { kind: 'spike', about: '', text, details: { requests: total, usual: before } }
  }
}

function findSpan(at: number): number {
  return Math.floor(at / SPAN_MS)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
