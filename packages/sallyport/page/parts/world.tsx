import { useEffect, useState } from 'preact/hooks'
import { count, country } from '../words.ts'

interface World {
  readonly width: number
  readonly height: number
  readonly shapes: Readonly<Record<string, string>>
}

/** Shows a map of the world: countries shaded by count. */
export function WorldMap({ label, counts }: { label: string; counts: Readonly<Record<string, number>> }) {
  const [world, setWorld] = useState<World | undefined>(undefined)
  useEffect(() => {
    void fetch('/assets/world.json')
      .then((response) => response.json())
      .then(setWorld, () => {})
  }, [])
  if (world === undefined) return <div class="map" />
  const most = Math.max(1, ...Object.values(counts))
  return (
    <svg class="map" viewBox={`0 0 ${world.width} ${world.height}`} role="img" aria-label={label}>
      <title>{label}</title>
      {Object.entries(world.shapes).map(([code, shape]) => {
        const number = counts[code] ?? 0
        return (
          <path
            key={code}
            d={shape}
            class={number > 0 ? 'land counted' : 'land'}
            fill-opacity={number > 0 ? chooseShade(number, most) : 1}
          >
            {number > 0 && <title>{`${country(code)}: ${count(number)}`}</title>}
          </path>
        )
      })}
    </svg>
  )
}

/** Chooses a shade by the logarithm, because one country nearly always has most of the traffic. */
function chooseShade(number: number, most: number): number {
  return 0.3 + 0.7 * (Math.log(number + 1) / Math.log(most + 1))
}
