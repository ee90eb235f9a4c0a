import { createRandom, type VisitRequest } from '@sallyport/core/testing'
import t from 'tap'
import { NO_OPENSSL } from '../clients/site.ts'
import { PRESETS } from '../league/league.ts'
import { planVisit, simulateVisit, watchVisit } from './model.ts'
import { type Recording, recordVisits } from './record.ts'
import { replayVisits, type Visitor } from './replay.ts'
import { SITES } from './sites.ts'

/* Real browsers and scrapers on real applications; what they sent is then sent again, until the gate knows the site. */
const random = createRandom(72)
const UNREACHED = { skip: "npm's cache lacks a package, and no registry" }
/** A person reads a page for so many milliseconds, which is drawn. */
const pause = (): number => 4_000 + random(40_000)

/** People whose visits prove what people do, before anybody else comes. */
function planTeachers(recording: Recording): readonly Visitor[] {
  const browsers = recording.visits.filter(({ name }) => name.includes('cold'))
  return browsers.length === 0
    ? []
    : Array.from({ length: 30 }, (_, at) => {
        const recorded = browsers[at % browsers.length] as (typeof browsers)[number]
        const steps = planVisit({ recorded, recording, pages: 10, pause, random })
        return { address: () => `72.1.1.${at + 1}`, begins: at * 10_000, steps }
      })
}

/** The requests of people with one browser behind one address, who begin within an hour and read five pages each. */
function planOffice(recording: Recording, people: number): readonly VisitRequest[] {
  const browsers = recording.visits.filter(({ name }) => name === 'Chromium, cold, then warm')
  return Array.from({ length: people }, () => {
    const later = random(3_600_000)
    const steps = planVisit({ recorded: browsers[0] as (typeof browsers)[number], recording, pages: 5, pause, random })
    return simulateVisit(steps, recording.answers).map((request) => ({ ...request, at: request.at + later }))
  })
    .flat()
    .sort((one, other) => one.at - other.at)
}

t.test('the wiki', { skip: NO_OPENSSL, timeout: 900_000 }, async (t) => {
  const recording = await recordVisits(SITES[0] as (typeof SITES)[number], {
    people: (name) => /cold|30 tabs|lynx|w3m/.test(name) && !/Firefox, 30|WebKitGTK, 30/.test(name),
    scrapers: (name) => /^(?:requests|got|impit|curl-imp|wget -m|Puppeteer, stealth|simplecrawler)/.test(name),
    config: { policy: { preset: 'stop-scrapers' } },
  })
  if (recording === undefined) return t.pass('skipped', UNREACHED)
  for (const text of recording.missing) t.pass(text, { skip: text })

  for (const { name, loads, seen } of recording.visits) {
    if (loads !== undefined) continue
    const actions = new Set(seen.map(({ decision }) => decision.action))
    t.notOk(actions.has('block') || actions.has('challenge'), `${name}: ${[...actions].join()}`)
  }
  const people = recording.visits.filter(({ loads, seen }) => loads === undefined && seen.length > 0)

  for (const preset of PRESETS) {
    let basedOnBehaviour = 0
    const visitors = people.map(
      (recorded, at): Visitor => ({
        address: () => `73.200.1.${at + 1}`,
        begins: 3_600_000,
        steps: planVisit({ recorded, recording, pages: 30, pause, random }),
      }),
    )
    await replayVisits(
      recording,
      [...planTeachers(recording), ...visitors],
      ({ visitor, decision: { action, inspection } }) => {
        if (!visitors.includes(visitor) || inspection.agent.basis !== 'behaviour') return
        basedOnBehaviour++
        t.not(action, 'block', `${preset}: nobody is blocked by behaviour alone`)
      },
      { policy: { preset } },
    )
    t.ok(basedOnBehaviour > 0, `${preset}: ${basedOnBehaviour} pages of text browsers were judged by behaviour`)
  }

  const habits = await replayVisits(recording, planTeachers(recording), () => {})
  t.ok(habits.length > 0 && habits.every(({ visits }) => visits >= 10), 'the gate knows what people do')
  const renderPage = (recorded: (typeof people)[number], gap: () => number) => {
    const steps = planVisit({ recorded, recording, pages: 101, pause: gap, random })
    return watchVisit(simulateVisit(steps, recording.answers), recording.isPage, habits).page
  }
  for (const recorded of people.filter(({ name }) => !/lynx|w3m/.test(name))) {
    t.equal(renderPage(recorded, pause), Number.POSITIVE_INFINITY, `${recorded.name} for 100 pages`)
  }
  const office = watchVisit(planOffice(recording, 40), recording.isPage, habits)
  t.equal(office.page, Number.POSITIVE_INFINITY, 'an office of 40')
  for (const [loads, depth, floor] of [
    ['pages', 20, 0.95],
    ['everything', 100, 0.5],
  ] as const) {
    const pages = recording.visits
      .filter((one) => one.loads === loads)
      .flatMap((one) =>
        [1, 10, 60, 600].map((rate) => renderPage(one, () => (60_000 / rate) * (0.8 + random(400) / 1_000))),
      )
    const found = pages.filter((page) => page <= depth + 1).length
    t.ok(found >= floor * pages.length, `${loads}: ${found} of ${pages.length} at ${depth} pages`)
  }
})

t.test('the example site has no files and no cookies: no sign about these speaks', { skip: NO_OPENSSL }, async (t) => {
  const recording = await recordVisits(SITES.at(-1) as (typeof SITES)[number], {
    people: (name) => name === 'Chromium, cold, then warm' || name === 'w3m',
    scrapers: () => false,
  })
  if (recording === undefined) return t.pass('skipped', UNREACHED)
  for (const { name, seen } of recording.visits) {
    t.ok(seen.length > 10, name)
    const signs = new Set(seen.flatMap(({ decision }) => decision.inspection.behaviour?.signs ?? []))
    t.same([...signs], [], name)
  }
})
