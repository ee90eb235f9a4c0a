import { useEffect, useState } from 'preact/hooks'
import { count, country } from '../words.ts'

interface World {
  readonly width: number
  readonly height: number
  readonly scale: number
  readonly translate: readonly [number, number]
  readonly shapes: Readonly<Record<string, string>>
  readonly places: Readonly<Record<string, readonly [number, number]>>
}

const SHADES = 5

/** Shows a map of the world: countries shaded by count, or one place. */
export function WorldMap({
  label,
  counts = {},
  point,
}: {
  label: string
  counts?: Readonly<Record<string, number>> | undefined
  point?: { readonly latitude: number; readonly longitude: number } | undefined
}) {
  const [world, setWorld] = useState<World | undefined>(undefined)
  useEffect(() => {
    void fetch('/assets/world.json')
      .then((response) => response.json())
      .then(setWorld, () => {})
  }, [])
  if (world === undefined) return <div class="map" />
  const most = Math.max(1, ...Object.values(counts))
  const at = point && projectPoint(world, point)
  return (
    <svg class="map" viewBox={`0 0 ${world.width} ${world.height}`} role="img" aria-label={label}>
      <title>{label}</title>
      {Object.entries(world.shapes).map(([code, shape]) => {
        const number = counts[code] ?? 0
        return (
          <path key={code} d={shape} class={`land shade-${chooseShade(number, most)}`}>
            {number > 0 && <title>{`${country(code)}: ${count(number)}`}</title>}
          </path>
        )
      })}
      {placeNames(world, point === undefined ? counts : {}).map(({ code, x, y }) => (
        <text key={`name ${code}`} x={x} y={y} class="name">
          {country(code)}
        </text>
      ))}
      {at && <circle cx={at.x} cy={at.y} r="7" class="here" />}
    </svg>
  )
}

/** Limits the names on the map: countries with the highest counts are named, as far as the names do not overlap. */
const NAMES = 6
/** A letter takes so many units of the picture, and a line so many. */
const [LETTER, LINE] = [10, 22]

function placeNames({ places, width }: World, counts: Readonly<Record<string, number>>) {
  const named: { readonly code: string; readonly x: number; readonly y: number; readonly half: number }[] = []
  for (const [code] of Object.entries(counts).sort(([, one], [, other]) => other - one)) {
    const place = places[code]
    if (named.length === NAMES || place === undefined) continue
    const half = (country(code).length * LETTER) / 2
    const one = { code, x: Math.min(Math.max(place[0], half), width - half), y: place[1], half }
    const isFree = named.every(
      ({ x, y, half: other }) => Math.abs(x - one.x) > half + other || Math.abs(y - one.y) > LINE,
    )
    if (isFree) named.push(one)
  }
  return named
}

/** Chooses a shade by the logarithm, because one country nearly always has most of the traffic. */
function chooseShade(number: number, most: number): number {
  if (number === 0) return 0
  return 1 + Math.round((Math.log(number + 1) / Math.log(most + 1)) * (SHADES - 1))
}

const [A1, A2, A3, A4] = [1.340264, -0.081106, 0.000893, 0.003796]

/** Projects a point by Equal Earth (Šavrič, Patterson and Jenny 2018), as the outlines are projected. */
function projectPoint(
  { scale, translate: [left, top] }: World,
  { latitude, longitude }: { readonly latitude: number; readonly longitude: number },
): { readonly x: number; readonly y: number } {
  const sine = Math.asin((Math.sqrt(3) / 2) * Math.sin((latitude * Math.PI) / 180))
  const [two, six] = [sine * sine, sine ** 6]
  const wide = (longitude * Math.PI * Math.cos(sine)) / 180
  const x = wide / ((Math.sqrt(3) / 2) * (A1 + 3 * A2 * two + six * (7 * A3 + 9 * A4 * two)))
  const y = sine * (A1 + A2 * two + six * (A3 + A4 * two))
  return { x: left + x * scale, y: top - y * scale }
}
