import { count } from '../words.ts'

const WIDTH = 96
const HEIGHT = 22

/** A small curve of counts over a span, the oldest to the left. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values)
  const step = WIDTH / Math.max(1, values.length)
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}: most ${count(most)}`}>
      {values.map((value, at) => {
        const height = value === 0 ? 0 : Math.max(1, (value / most) * HEIGHT)
        return <rect key={at} x={at * step} y={HEIGHT - height} width={step * 0.8} height={height} />
      })}
    </svg>
  )
}
