import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { missing, run } from '../clients/programs.ts'
import { NO_OPENSSL } from '../clients/site.ts'
import { ROOT } from '../workspaces.ts'
import { PEOPLE } from './people.ts'
import { FRAGMENTS, prepareSite, SITES, type SiteKind } from './sites.ts'
import { openStage, type Seen } from './stage.ts'

/* Real clients request pages in parallel or guess addresses: on a site where people take turns, and on one whose pages load others. */
const READERS = 12
const CHROMIUM = PEOPLE.find(({ name }) => name === 'Chromium, no images')
/** A program that names itself is judged by its name, so these name a browser. */
const CHROME = 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const WORDS = '/usr/share/dirb/wordlists/common.txt'
const SCRAPY = join(ROOT, 'test/behaviour/drivers/crawlers.py')

interface Neighbour {
  readonly name: string
  readonly flag?: string
  readonly args: (page: string) => readonly string[]
}

/** Scrapy has several requests under way by default. */
const PARALLEL: Neighbour = { name: '/usr/bin/python3', args: (page) => [SCRAPY, 'scrapy', page, '110', CHROME] }
const SERIAL: Neighbour = { name: 'wget', args: (page) => ['-q', '-m', page, '-U', CHROME] }
/** Programs that look for addresses that a site does not link to. */
const GUESSERS: readonly Neighbour[] = [
  { name: 'gobuster', flag: 'version', args: (page) => ['dir', '-q', '-u', page, '-w', WORDS, '-a', CHROME] },
  { name: 'ffuf', flag: '-V', args: (page) => ['-u', `${page}FUZZ`, '-w', WORDS, '-H', `User-Agent: ${CHROME}`] },
  { name: 'dirb', flag: '', args: (page) => [page, WORDS, '-S', '-r', '-a', CHROME] },
]

const listSigns = (seen: readonly Seen[]): readonly string[] => [
  ...new Set(seen.flatMap(({ decision }) => decision.inspection.behaviour?.signs ?? [])),
]

/** Opens a site, and lets people with a browser read it until the gate knows what they do there. */
async function openKnownSite(t: Test, site: SiteKind) {
  const folder = await prepareSite(site)
  if (folder === undefined || CHROMIUM === undefined) return undefined
  const stage = await openStage(site, { folder })
  t.teardown(() => stage.close())
  const people: Seen[] = []
  for (let at = 1; at <= READERS; at++)
    people.push(...(await stage.visit(`72.1.1.${at}`, (urls) => CHROMIUM.visit(urls, site))))
  let last = 0
  /** Resolves with the signs of a neighbour; `undefined` where the machine lacks the program. */
  const send = async ({ name, flag, args }: Neighbour, path: string): Promise<readonly string[] | undefined> => {
    const why = missing(name, flag)
    if (why !== false) t.pass(name, { skip: why })
    if (why !== false) return undefined
    const seen = await stage.visit(`66.1.1.${++last}`, async ({ plain }) => {
      await run(tmpdir(), name, args(`${plain}${path}`))
    })
    const signs = listSigns(seen)
    t.ok(seen.length > 100, `${name}: ${seen.length} requests, ${signs.join()}`)
    return signs
  }
  const isActive = (habit: string) => stage.habits().find((one) => one.habit === habit)?.isActive
  return { people, send, isActive }
}

const SKIP = { skip: NO_OPENSSL || (CHROMIUM?.missing ?? false), timeout: 800_000 }
const UNREACHED = { skip: "npm's cache lacks a package, and no registry" }

t.test('people take turns on the blog and find its pages, so who does not is seen', SKIP, async (t) => {
  const known = await openKnownSite(t, SITES[2] as SiteKind)
  if (known === undefined) return t.pass('skipped', UNREACHED)
  const { people, send, isActive } = known
  t.ok(isActive('takes-turns') && isActive('finds'), 'the gate knows that people take turns and find pages')
  t.same(
    listSigns(people).filter((sign) => sign === 'parallel-pages' || sign === 'guesses-addresses'),
    [],
    'no person shows either sign',
  )
  t.not((await send(PARALLEL, '/'))?.includes('parallel-pages'), false, 'a scraper as it is')
  t.not((await send(SERIAL, '/'))?.includes('parallel-pages'), true, 'a scraper that reads one page after another')
  for (const guesser of GUESSERS) t.not((await send(guesser, '/'))?.includes('guesses-addresses'), false, guesser.name)
})

t.test('where a page loads fragments, nobody is seen by parallel pages', SKIP, async (t) => {
  const known = await openKnownSite(t, FRAGMENTS)
  if (known === undefined) return t.pass('skipped', UNREACHED)
  const { people, send, isActive } = known
  t.ok(people.length > READERS * 50, `${people.length} requests of people`)
  t.notOk(isActive('takes-turns') || isActive('pauses'), 'the gate knows that pages come together here')
  const signs = listSigns(people)
  t.notOk(
    ['parallel-pages', 'relentless', 'even-gaps', 'guesses-addresses'].some((sign) => signs.includes(sign)),
    `signs of people: ${signs.join()}`,
  )
  const accused = people.filter(({ decision }) => decision.action !== 'allow').length
  t.equal(accused, 0, 'no request of a person is refused or challenged')
  t.not((await send(PARALLEL, FRAGMENTS.page(0)))?.includes('parallel-pages'), true, 'the sign is silent for all')
})
