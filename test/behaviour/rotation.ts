import type { Random } from '@sallyport/core/testing'
import { planVisit } from './model.ts'
import { planPerson } from './population.ts'
import type { Recording } from './record.ts'
import { replayVisits, type Visitor } from './replay.ts'

/** Those that are sent to the gate, so that it learns what people do. */
const TEACHERS = 60
const HOUR = 3_600_000
const MINUTE = 60_000
const ROTATING = 200
/** The rule lets a group have so many pages a minute. */
const MAX_OF_GROUP = 60

/** Pages that one scraper behind addresses that take turns was given, before a minute in which its group kept to the limit. */
export async function rotateAddresses(recording: Recording, random: Random) {
  const teachers = Array.from({ length: TEACHERS }, (_, at): Visitor => {
    const address = `72.1.1.${at + 1}`
    return { address: () => address, begins: random(HOUR), steps: planVisit(planPerson(recording, random, 9)) }
  })
  const recorded = recording.visits.find(({ name }) => name === 'impit')
  const address = (page: number) => `66.1.1.${1 + (page % ROTATING)}`
  const scraper =
    recorded &&
    ({
      address,
      begins: 4 * HOUR,
      steps: planVisit({ recorded, recording, pages: 2_600, pause: () => MINUTE / 600, random }),
    } as const)
  const served: number[] = []
  const limit = { key: 'likeness', max: MAX_OF_GROUP, window: '1m', count: 'page' } as const
  const habits = await replayVisits(
    recording,
    scraper === undefined ? teachers : [...teachers, scraper],
    ({ visitor, at, status }) => {
      if (visitor !== scraper || status !== 200) return
      const minute = Math.floor((at - visitor.begins) / MINUTE)
      served[minute] = (served[minute] ?? 0) + 1
    },
    { policy: { preset: 'observe', rules: [{ id: 'group', match: {}, limit, action: 'throttle' }] } },
  )
  const slowed = served.findIndex((pages) => pages <= MAX_OF_GROUP)
  if (slowed === -1) return { habits, served: Number.POSITIVE_INFINITY }
  return { habits, served: served.slice(0, slowed).reduce((sum, pages) => sum + pages, 0) }
}
