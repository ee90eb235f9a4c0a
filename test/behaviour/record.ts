import { PEOPLE } from './people.ts'
import { type Loads, prepareScrapers, SCRAPERS } from './scrapers.ts'
import { prepareSite, type SiteKind } from './sites.ts'
import { type Answer, openStage, type Seen, type StageOptions } from './stage.ts'

/** A visit of a real client, as the gate received it. */
export interface Recorded {
  readonly name: string
  /** Absent: it is a person's. */
  readonly loads?: Loads | undefined
  readonly seen: readonly Seen[]
}

export interface Recording {
  readonly site: SiteKind
  readonly answers: ReadonlyMap<string, Answer>
  readonly visits: readonly Recorded[]
  /** Whether a target is answered with a page. */
  readonly isPage: (target: string) => boolean
  /** Clients that could not be tried here, and why. */
  readonly missing: readonly string[]
}

export interface RecordOptions extends Pick<StageOptions, 'config'> {
  readonly people: (name: string) => boolean
  readonly scrapers: (name: string) => boolean
}

/** Lets real people's programs and then real scrapers visit an application behind the gate; `undefined` where it is not to be had. */
export async function recordVisits(site: SiteKind, options: RecordOptions): Promise<Recording | undefined> {
  const folder = await prepareSite(site)
  const project = await prepareScrapers()
  if (folder === undefined || project === undefined) return undefined
  const stage = await openStage(site, { folder, config: options.config })
  const visits: Recorded[] = []
  const missing: string[] = []
  let last = 0
  const address = () => `73.162.${10 + (++last >> 8)}.${last & 255}`
  try {
    for (const person of PEOPLE.filter(({ name }) => options.people(name))) {
      if (person.missing !== false) missing.push(`${person.name}: ${person.missing}`)
      else visits.push({ name: person.name, seen: await stage.visit(address(), (urls) => person.visit(urls, site)) })
    }
    for (const { name, loads, ...scraper } of SCRAPERS.filter(({ name }) => options.scrapers(name))) {
      const why = await scraper.missing(project)
      if (why !== false) missing.push(`${name}: ${why}`)
      else {
        const seen = await stage.visit(address(), (urls) => scraper.scrape(urls, site, project))
        // A driver whose library is not installed ends without a page, and is no scraper that was not found.
        if (seen.some(({ request }) => stage.isPage(request.target))) visits.push({ name, loads, seen })
        else missing.push(`${name}: it read no page here`)
      }
    }
  } finally {
    await stage.close()
  }
  return { site, answers: stage.answers, visits, isPage: stage.isPage, missing }
}
