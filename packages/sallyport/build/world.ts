import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { geoEqualEarth, geoPath } from 'd3-geo'
import type { FeatureCollection } from 'geojson'
import countries from 'i18n-iso-countries'
import { feature } from 'topojson-client'

/** The map has this size, in units of its picture. */
const [WIDTH, HEIGHT] = [960, 470]

/** Writes the outline of each country, by its two letters, in one picture of the world (Equal Earth projection). */
export function worldShapes() {
  const require = createRequire(import.meta.url)
  const topology = JSON.parse(readFileSync(require.resolve('world-atlas/countries-110m.json'), 'utf8'))
  const world = feature(topology, topology.objects.countries) as unknown as FeatureCollection
  // No request comes from Antarctica.
  const features = world.features.filter(({ id }) => String(id) !== '010')
  const projection = geoEqualEarth().fitSize([WIDTH, HEIGHT], { type: 'FeatureCollection', features })
  const path = geoPath(projection).digits(1)
  const shapes: Record<string, string> = {}
  for (const one of features) {
    const code = countries.numericToAlpha2(String(one.id ?? '')) ?? `-${Object.keys(shapes).length}`
    shapes[code] = (shapes[code] ?? '') + (path(one) ?? '')
  }
  return { width: WIDTH, height: HEIGHT, shapes }
}
