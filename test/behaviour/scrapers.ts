import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHROMIUM } from '../chromium.ts'
import { missing, run } from '../clients/programs.ts'
import { TOOLS, type Tool } from '../league/tools.ts'
import { ROOT } from '../workspaces.ts'
import { prepare, type SiteKind } from './sites.ts'
import type { Urls } from './stage.ts'

/* Scrapers as they are: scrapers of the league read pages one after another, others follow the links that they find. */

/** What a scraper loads beside pages, which decides what can be seen of it. */
export type Loads = 'pages' | 'everything'

export interface Scraper {
  readonly name: string
  readonly loads: Loads
  /** Resolves with why it is not tried on this machine. */
  missing(project: string): Promise<string | false>
  scrape(urls: Urls, site: SiteKind, project: string): Promise<void>
}

/** Pages that are read at the most. */
const MOST = 110
const MOST_IN_BROWSER = 25

const CRAWLERS = join(ROOT, 'test/behaviour/drivers')
const PACKAGES = [
  ...['crawler@2.1.1', 'simplecrawler@1.1.9', 'website-scraper@6.0.0', '@crawlee/cheerio@3.18.1'],
  ...['puppeteer-extra@3.3.6', 'puppeteer-extra-plugin-stealth@2.11.2', '--ignore-scripts'],
]

/** Tools of the league that are tried: the others differ by their headers alone. */
const LEAGUE: readonly string[] = [
  ...['wget', 'requests', 'httpx', 'aiohttp', 'Go net/http', 'node fetch', 'undici', 'got', 'got-scraping'],
  ...['impit', 'curl-impersonate', 'headless Chromium', 'Puppeteer', 'patchright'],
]

function ofLeague(tool: Tool): Scraper {
  const isBrowser = tool.kind === 'browser'
  return {
    name: tool.name,
    loads: isBrowser ? 'everything' : 'pages',
    async missing(project) {
      const version = await tool.version({ folder: project, ca: '', project })
      return version === undefined && `no ${tool.name} on this machine`
    },
    async scrape({ secure, ca }, _site, project) {
      const folder = mkdtempSync(join(tmpdir(), 'sallyport-scraper-'))
      const driver = await tool.drive({ folder, ca, project })
      await driver.run({ base: secure, count: isBrowser ? MOST_IN_BROWSER : MOST, headers: [], ca })
      await driver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A program that is started for a crawl, in a folder of its own. */
function crawler(
  name: string,
  loads: Loads,
  needs: string | readonly [command: string, flag: string],
  args: (first: string, base: string, project: string) => readonly string[],
): Scraper {
  const [command, flag] = typeof needs === 'string' ? [needs] : needs
  return {
    name,
    loads,
    missing: async () => missing(command, flag),
    async scrape({ plain }, site, project) {
      const folder = mkdtempSync(join(tmpdir(), 'sallyport-scraper-'))
      await run(folder, command, args(`${plain}${site.page(0)}`, plain, project))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const node = (name: string, loads: Loads, count = MOST): Scraper =>
  crawler(name, loads, process.execPath, (first, _, project) => [
    join(project, 'crawlers.mjs'),
    name,
    first,
    String(count),
    CHROMIUM,
  ])

const python = (name: string, loads: Loads, count = MOST): Scraper =>
  crawler(name, loads, '/usr/bin/python3', (first) => [join(CRAWLERS, 'crawlers.py'), name, first, String(count)])

export const SCRAPERS: readonly Scraper[] = [
  ...TOOLS.filter(({ name }) => LEAGUE.includes(name)).map(ofLeague),
  crawler('wget -m', 'everything', 'wget', (first) => ['-q', '-m', '-p', first]),
  crawler('HTTrack', 'everything', 'httrack', (_, base) => [`${base}/`, '-O', 'mirror', '-q', '-s0', '-E30', '-%v0']),
  python('scrapy', 'pages'),
  python('mechanize', 'pages'),
  python('selenium', 'everything', MOST_IN_BROWSER),
  node('crawler', 'pages'),
  node('Crawlee, Cheerio', 'pages'),
  node('simplecrawler', 'everything'),
  node('website-scraper', 'everything'),
  node('Playwright, images', 'everything', MOST_IN_BROWSER),
  node('Playwright, no images', 'pages', MOST_IN_BROWSER),
  node('Puppeteer, stealth', 'everything', MOST_IN_BROWSER),
]

/** A folder with the packages of npm and the programs that use them; `undefined` where the registry is not reached. */
export async function prepareScrapers(): Promise<string | undefined> {
  const league = new Set(TOOLS.filter(({ name }) => LEAGUE.includes(name)).flatMap(({ npm }) => npm ?? []))
  const browsers = ['playwright-core@1.65.1']
  const folder = await prepare('scrapers', [...new Set([...league, ...browsers, ...PACKAGES])])
  if (folder === undefined) return undefined
  for (const name of ['node.mjs', 'browsers.mjs'])
    copyFileSync(join(ROOT, 'test/league/drivers', name), join(folder, name))
  copyFileSync(join(CRAWLERS, 'crawlers.mjs'), join(folder, 'crawlers.mjs'))
  return folder
}
