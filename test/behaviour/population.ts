import type { Random } from '@sallyport/core/testing'
import type { Plan } from './model.ts'
import type { Recorded, Recording } from './record.ts'

const MINUTE = 60_000

/** Of a thousand people, so many read the site in each way. */
const SHARES: Readonly<Record<string, number>> = {
  'cold, then warm': 930,
  'no images': 25,
  'no scripts': 15,
  '30 tabs': 25,
  lynx: 2,
  w3m: 2,
  links2: 1,
}

/** A number that is near the middle mostly, and may be many times as large. */
function spread(middle: number, random: Random): number {
  const normal = Array.from({ length: 12 }, () => random(1_000) / 1_000).reduce((sum, one) => sum + one, -6)
  return middle * Math.exp(normal)
}

/** A person: most read five pages, some a hundred; one in ten comes back with a warm cache. */
export function planPerson(
  recording: Recording,
  random: Random,
  pages = Math.min(120, Math.ceil(spread(5, random))),
): Plan {
  const people = recording.visits.filter(({ loads, seen }) => loads === undefined && seen.length > 0)
  const computeShare = ({ name }: Recorded) => Object.entries(SHARES).find(([kind]) => name.endsWith(kind))?.[1] ?? 0
  let left = random(people.reduce((sum, one) => sum + computeShare(one), 0))
  const recorded = people.find((one) => {
    left -= computeShare(one)
    return left < 0
  }) as Recorded
  const middle = recorded.name.endsWith('30 tabs') ? 300 : 20_000
  return { recorded, recording, pages, pause: () => spread(middle, random), isWarm: random(10) === 0, random }
}

/** Creates gaps that vary like the tool's own gaps, about the mean of a rate. */
export function createPauses({ seen }: Recorded, rate: number): () => number {
  const gaps = seen.slice(1).map(({ at }, place) => at - (seen[place]?.at ?? at))
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length || 1
  let place = 0
  return () => (MINUTE / rate) * Math.min(5, (gaps[place++ % gaps.length] ?? mean) / mean)
}
