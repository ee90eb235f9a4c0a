import { BEHAVIOUR_SIGNS, createBehaviour, type ObservedRequest, RECORD_BYTES } from '@sallyport/core'
import { readTraits } from '@sallyport/core/host'
import { createRandom } from '@sallyport/core/testing'
import { open } from '@sallyport/engine'
import { planVisit, simulateVisit, watchVisit } from '@sallyport/test/dist/behaviour/model.js'
import { createPauses, planPerson } from '@sallyport/test/dist/behaviour/population.js'
import { type Recorded, type Recording, recordVisits } from '@sallyport/test/dist/behaviour/record.js'
import { rotateAddresses } from '@sallyport/test/dist/behaviour/rotation.js'
import { SITES } from '@sallyport/test/dist/behaviour/sites.js'
import { BROWSER, browserFields, makeRequest } from './browser.ts'
import { computeSpread, counted, type Figure, type Goal, makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { visitorAddresses } from './visitors.ts'

/** Visits of people to each application, which are judged. */
const PEOPLE = 10_000
const MINUTE = 60_000
const DEPTHS = [5, 20, 100]
const RATES = [1, 10, 60, 600]
/**
 * The bench measures what visitors do as evidence. Real browsers and scrapers visit applications behind the proxy. Some of these visits are sent again over
 * sockets, until the gate knows the site; thousands more, with other times and pages, are judged by the gate's own function for it.
 */
export async function benchBehaviour(run: Run): Promise<void> {
  if (run.quick) return run.skip('real clients, which take an hour')
  const figures: Figure[] = []
  let first: Recording | undefined
  for (const site of SITES.slice(0, -1)) {
    run.step(`real clients on the ${site.name}`)
    const recording = await recordVisits(site, { people: () => true, scrapers: () => true })
    if (recording === undefined) {
      run.skip(`the ${site.name}, because the registry of npm is not reached`)
      continue
    }
    for (const text of recording.missing) run.skip(text)
    figures.push(...(await judgeRecording(run, recording)))
    first ??= recording
  }
  if (first === undefined) return
  run.table({ title: 'Found, and accused', figures })
  run.table({ title: 'What it costs', figures: await measureCosts(first) })
}

/** So many visitors are at the site at a time. */
const VISITORS = 500

/** Measures the processor time per request of visits, from traits to the finding at the next request, and a visitor's memory. */
export async function measureCosts(recording: Recording): Promise<readonly Figure[]> {
  const recorded = recording.visits.find(({ loads, seen }) => loads === undefined && seen.length > 0) as Recorded
  const plan = { recorded, recording, pages: 20, pause: () => MINUTE / 3, random: createRandom(72) }
  const seen = simulateVisit(planVisit(plan), recording.answers)
  const facts = seen.map((request) => ({ ...NOTHING, ...request }))
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false }, behaviour: false })
  const visitors = visitorAddresses(VISITORS).map((address) => {
    const request = makeRequest({ fields: browserFields(address) })
    const decision = sallyport.decide(request)
    return {
      request,
      inspection: decision.inspection,
      observed: { ...ENDED, at: 0, status: 0, traits: undefined as ObservedRequest['traits'], decision },
    }
  })
  await sallyport.close()
  const behaviour = createBehaviour({ seed: () => 72 })
  let from = 0
  const rounds = Array.from({ length: 33 }, () => {
    const before = process.cpuUsage()
    for (const fact of facts) {
      const at = from + fact.at
      for (const { request, inspection, observed } of visitors) {
        // A new object for each request costs more than what is measured.
        observed.at = at
        observed.status = fact.status
        observed.traits = readTraits(fact, fact)
        behaviour.record(observed as ObservedRequest)
        behaviour.find(request, inspection, at)
      }
    }
    from += 24 * 60 * MINUTE
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (facts.length * visitors.length)
  })
  // The compiler is at work in the first rounds.
  const taken = computeSpread(rounds.slice(2))
  return [
    makeFigure('a request', 'read, counted and judged', 'µs', taken, { atMost: 1 }),
    makeFigure('a visitor', 'memory', 'bytes', counted(RECORD_BYTES), { atMost: 200 }),
  ]
}

const NOTHING = { method: 'GET', host: 'site.example', isConditional: false, isAhead: false, fields: [] }
const ENDED = { host: 'site.example', userAgent: BROWSER, milliseconds: 5 } as Partial<ObservedRequest>

/** Judges what was recorded on one application, and much that is like it. */
export async function judgeRecording(run: Run, recording: Recording): Promise<readonly Figure[]> {
  const random = createRandom(72)
  const { site, visits, isPage, answers } = recording
  run.step(`visits to the ${site.name}`)
  const { habits, served } = await rotateAddresses(recording, random)
  const watch = (plan: Parameters<typeof planVisit>[0]) =>
    watchVisit(simulateVisit(planVisit(plan), answers), isPage, habits)
  const people = Array.from({ length: PEOPLE }, () => watch(planPerson(recording, random)))
  const countPeople = (is: (visit: (typeof people)[number]) => boolean) =>
    counted((10_000 * people.filter(is).length) / people.length)
  const scrapers = visits.flatMap((recorded) =>
    recorded.loads === undefined
      ? []
      : RATES.map((rate) => {
          const pause = createPauses(recorded, rate)
          return { loads: recorded.loads, page: watch({ recorded, recording, pages: 101, pause, random }).page }
        }),
  )
  const shares = (['pages', 'everything'] as const).flatMap((loads) => {
    const own = scrapers.filter((scraper) => scraper.loads === loads)
    return DEPTHS.map((depth) => {
      // The log shows at the next page what the gate knows of this one.
      const found = own.filter(({ page }) => page <= depth + 1).length
      const what = `${loads === 'pages' ? 'no files' : 'with files'}, ${depth} pages`
      return makeFigure(site.name, what, '%', counted((100 * found) / own.length), findGoal(loads, depth))
    })
  })
  const accused = countPeople(({ page }) => page < Number.POSITIVE_INFINITY)
  const found: readonly Figure[] = [
    ...shares,
    makeFigure(site.name, 'accused', 'people', accused, { atMost: 10 }),
    makeFigure(site.name, '200 addresses, served', 'pages', counted(served), { atMost: 2_000 }),
  ]
  const showing = (id: string) => countPeople((visit) => visit.signs.has(id))
  const others = BEHAVIOUR_SIGNS.filter(({ id, weight }) => weight > 0 && !(id in COMMON_SIGNS))
  const most = Math.max(...others.map(({ id }) => showing(id).median))
  return [
    ...found,
    ...Object.entries(COMMON_SIGNS).map(([id, what]) => makeFigure(site.name, what, 'people', showing(id))),
    makeFigure(site.name, 'another sign', 'people', counted(most)),
  ]
}

/** People show these signs most often; the table has a column for each. */
const COMMON_SIGNS: Readonly<Record<string, string>> = {
  'referrers-never-fit': 'no link',
  'reloads-files': 'files reloaded',
}

function findGoal(loads: Recorded['loads'], depth: number): Goal | undefined {
  if (loads === 'pages' && depth === 20) return { atLeast: 95 }
  return loads === 'everything' && depth === 100 ? { atLeast: 50 } : undefined
}
