/* Crawls a site of npm's crawlers as their documentation shows it: the tool, the first page, and the number of pages at the most. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [, , tool, first, most, executablePath] = process.argv
const count = Number(most)
const links = (html) =>
  [...html.matchAll(/href="(\/[^"#.]*(?:\.html)?)"/g)].map(([, path]) => new URL(path, first).href)
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--ignore-certificate-errors']

/** Opens page after page in a browser, by the links that it finds. */
async function browse(page) {
  const [found, seen] = [[first], new Set()]
  while (seen.size < count && found.length > 0) {
    const url = found.shift()
    if (seen.has(url)) continue
    seen.add(url)
    await page.goto(url, { waitUntil: 'load' })
    found.push(...links(await page.content()))
  }
}

const TOOLS = {
  async crawler() {
    const { default: Crawler } = await import('crawler')
    const seen = new Set([first])
    const crawler = new Crawler({ maxConnections: 4, rejectUnauthorized: false })
    await new Promise((resolve) => {
      crawler.on('drain', resolve)
      const visit = (url) =>
        crawler.add({
          url,
          callback: (error, { body } = {}, done) => {
            for (const next of error ? [] : links(String(body))) {
              if (seen.size < count && !seen.has(next)) visit(seen.add(next) && next)
            }
            done()
          },
        })
      visit(first)
    })
  },
  async simplecrawler() {
    const { default: Crawler } = await import('simplecrawler')
    const crawler = Object.assign(new Crawler(first), { interval: 20, maxConcurrency: 3, ignoreInvalidSSL: true })
    let fetched = 0
    crawler.on('fetchcomplete', () => {
      if (++fetched > count * 2) crawler.stop(true)
    })
    await new Promise((resolve) => {
      for (const end of ['complete', 'fetchcomplete']) crawler.on(end, () => crawler.running || resolve())
      crawler.start()
    })
  },
  async 'website-scraper'() {
    const { default: scrape } = await import('website-scraper')
    const directory = join(mkdtempSync(join(tmpdir(), 'scraped-')), 'site')
    const { origin } = new URL(first)
    await scrape({
      urls: [first],
      directory,
      recursive: true,
      maxRecursiveDepth: 2,
      urlFilter: (url) => url.startsWith(origin),
    })
  },
  async 'Crawlee, Cheerio'() {
    const { CheerioCrawler, Configuration } = await import('@crawlee/cheerio')
    const configuration = new Configuration({ persistStorage: false })
    const handle = ({ enqueueLinks }) => enqueueLinks()
    await new CheerioCrawler({ maxRequestsPerCrawl: count, requestHandler: handle }, configuration).run([first])
  },
  async 'Playwright, images'() {
    const { chromium } = await import('playwright-core')
    const browser = await chromium.launch({ executablePath, args: ARGS })
    await browse(await browser.newPage())
  },
  async 'Playwright, no images'() {
    const { chromium } = await import('playwright-core')
    const browser = await chromium.launch({ executablePath, args: ARGS })
    const page = await browser.newPage()
    await page.route('**/*', (route) =>
      route.request().resourceType() === 'document' ? route.continue() : route.abort(),
    )
    await browse(page)
  },
  async 'Puppeteer, stealth'() {
    const { addExtra } = await import('puppeteer-extra')
    const { default: stealth } = await import('puppeteer-extra-plugin-stealth')
    const { default: core } = await import('puppeteer-core')
    const browser = await addExtra(core).use(stealth()).launch({ executablePath, args: ARGS })
    await browse(await browser.newPage())
  },
}

await TOOLS[tool]()
process.exit()
