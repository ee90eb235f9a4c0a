import type { HabitState } from '@sallyport/core'
import { openVisit, type Random, type VisitRequest } from '@sallyport/core/testing'
import { WAYS } from '../league/copied.ts'
import type { Recorded, Recording } from './record.ts'
import { type Answer, COOKIE } from './stage.ts'

/* Recorded visits with other times and for other pages, as often as wanted. */

/** A request, so many milliseconds after the one before it; its fields are without cookies, which are those that the visitor got. */
export interface Step {
  readonly after: number
  readonly method: string
  readonly target: string
  readonly fields: readonly string[]
  readonly isPage: boolean
  /** Whether the client is one that returns cookies. */
  readonly returns: boolean
}

/** A page with the files that were loaded for it. */
interface Part {
  readonly page: Step
  readonly files: readonly Step[]
}

/** Files come so long after one another at the most, however busy the machine was on which they were recorded. */
const MAX_FILE_MS = 80

const DROPPED = /^(?:cookie|host|x-forwarded-\w+|:.*)$/i

function splitVisit({ seen }: Recorded, isPage: Recording['isPage']): readonly Part[] {
  const parts: { page: Step; files: Step[] }[] = []
  let before = 0
  const returns = seen.some(({ request }) => request.fields.some((value) => value.includes(`${COOKIE}=`)))
  for (const { at, request } of seen) {
    const { method, target } = request
    const fields = pickFields(request.fields, (name) => !DROPPED.test(name))
    const step = { after: Math.min(at - before, MAX_FILE_MS), method, target, fields, isPage: isPage(target), returns }
    before = at
    if (step.isPage) parts.push({ page: step, files: [] })
    else parts.at(-1)?.files.push(step)
  }
  return parts
}

function pickFields(fields: readonly string[], wanted: (name: string) => boolean): readonly string[] {
  return fields.flatMap((name, at) => (at % 2 === 0 && wanted(name) ? [name, fields[at + 1] as string] : []))
}

export interface Plan {
  readonly recorded: Recorded
  readonly recording: Pick<Recording, 'answers' | 'isPage'>
  readonly pages: number
  /** It gives the milliseconds until the next page. */
  readonly pause: () => number
  /** Begins in the middle of the recorded visit, with a cache that is warm. */
  readonly isWarm?: boolean | undefined
  readonly random: Random
}

/** A client sends these because of its visit; of a scraper no other header is kept, but Chrome's are sent. */
const OF_VISITS = /^(?:referer|if-none-match|if-modified-since)$/i

/** The requests of a visit: its recorded pages, and then other pages of the site with the files that were loaded last. */
export function* planVisit({ recorded, recording, pages, pause, isWarm, random }: Plan): Generator<Step> {
  const parts = splitVisit(recorded, recording.isPage)
  if (parts.length === 0) return
  const paths = [...recording.answers.keys()].filter(recording.isPage)
  const start = isWarm === true ? Math.floor(parts.length / 2) : 0
  const isScraper = recorded.loads !== undefined
  const dress = (step: Step): Step =>
    isScraper
      ? { ...step, fields: [...WAYS.all.flat(), ...pickFields(step.fields, (name) => OF_VISITS.test(name))] }
      : step
  let next = random(paths.length)
  for (let at = start; at < start + pages; at++) {
    const isRecorded = at < parts.length
    const late = parts.length - 1 - random(Math.ceil(parts.length / 2))
    const part = parts[isRecorded ? at : late] as Part
    // Who crawls reads each page once.
    next = isScraper ? (next + 1) % paths.length : random(paths.length)
    const target = isRecorded ? part.page.target : (paths[next] as string)
    yield dress({ ...part.page, target, after: at === start ? 0 : pause() })
    yield* part.files.map(dress)
  }
}

const PAGE_MS = 30
const FILE_MS = 10
const BEGIN = Date.UTC(2026, 10, 1)

/** The requests of a visit with the answers that the application gave, as `openVisit` reads them. */
export function simulateVisit(steps: Iterable<Step>, answers: ReadonlyMap<string, Answer>): readonly VisitRequest[] {
  const requests: VisitRequest[] = []
  let [at, hasCookie] = [BEGIN, false]
  for (const { after, method, target, fields, isPage, returns } of steps) {
    at += after
    const answer = answers.get(target)
    const find = (name: RegExp) =>
      fields.find((_, place, all) => place % 2 === 1 && name.test(all[place - 1] as string))
    const isConditional = find(/^if-(?:none-match|modified-since)$/i) !== undefined
    requests.push({
      at,
      milliseconds: isPage ? PAGE_MS : FILE_MS,
      method,
      target,
      host: 'localhost',
      fields,
      isConditional,
      isAhead: /prefetch/.test(find(/^(?:sec-)?purpose$/i) ?? ''),
      referer: find(/^referer$/i),
      status: isConditional && answer?.tag !== undefined ? 304 : (answer?.status ?? 404),
      contentType: answer?.type,
      ...(hasCookie && { cookie: `${COOKIE}=1` }),
      ...(!hasCookie && isPage && { setCookies: [`${COOKIE}=1; Path=/`] }),
    })
    if (isPage && returns) hasCookie = true
  }
  return requests
}

/** A challenge of the presets begins at this weight, for a browser at home whose headers say nothing against it. */
export const ACCUSED = 4

/** It is what the gate makes of a visit. */
export interface WatchedVisit {
  /** The page at which it is accused, counted from 1; infinite where it never is. */
  readonly page: number
  /** The ids of signs against a person that are there at one of its pages or more. */
  readonly signs: ReadonlySet<string>
}

/** Judges a visit at each of its pages. `habits`: what the gate has learnt of people there. */
export function watchVisit(
  requests: readonly VisitRequest[],
  isPage: Recording['isPage'],
  habits: readonly HabitState[],
): WatchedVisit {
  const visits = habits[0]?.visits ?? 0
  const visit = openVisit({ host: '', visits, having: habits.map(({ having }) => having) })
  const shown = new Set<string>()
  let [pages, page] = [0, Number.POSITIVE_INFINITY]
  for (const request of requests) {
    // A verdict does not change at the files of a page.
    if (isPage(request.target) && ++pages > 1) {
      const { weight, signs } = visit.judge()
      for (const id of signs) shown.add(id)
      if (weight >= ACCUSED) page = Math.min(page, pages)
    }
    visit.add(request)
  }
  return { page, signs: shown }
}
