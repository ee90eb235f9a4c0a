/* Reads a job a line, opens its pages with the browser automation that the first argument names, and writes a line for each job. */
import { createInterface } from 'node:readline'
import { setTimeout as after } from 'node:timers/promises'

const [, , tool, executablePath, profile] = process.argv
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--ignore-certificate-errors', '--disable-gpu']
/** Milliseconds in which a challenge must be solved, which takes two seconds of a free processor. */
const PATIENCE = 30_000

/** Splits a job's headers into the user agent, which each tool sets in a way of its own, and the others. */
function given(headers) {
  const agent = headers.find(([name]) => name === 'User-Agent')?.[1]
  return { agent, others: Object.fromEntries(headers.filter(([name]) => name !== 'User-Agent')) }
}

/** Playwright, and what has its interface. */
async function playwright(name) {
  const { chromium } = await import(name)
  const browser = await chromium.launch({ executablePath, args: ARGS })
  return async (headers) => {
    const { agent: userAgent, others: extraHTTPHeaders } = given(headers)
    const context = await browser.newContext({ userAgent, extraHTTPHeaders, ignoreHTTPSErrors: true })
    const page = await context.newPage()
    return { page, close: () => context.close() }
  }
}

async function puppeteer() {
  const { default: puppeteer } = await import('puppeteer-core')
  const browser = await puppeteer.launch({ executablePath, args: ARGS })
  return async (headers) => {
    const { agent, others } = given(headers)
    const context = await browser.createBrowserContext()
    const page = await context.newPage()
    if (agent !== undefined) await page.setUserAgent(agent)
    await page.setExtraHTTPHeaders(others)
    return { page, close: () => context.close() }
  }
}

/** Chromium as a person starts it, but for `--headless`: the user agent is a flag, and other headers cannot be given. */
async function headless() {
  const { spawn } = await import('node:child_process')
  const { default: puppeteer } = await import('puppeteer-core')
  let job = 0
  return async (headers) => {
    const { agent } = given(headers)
    const own = [`--user-data-dir=${profile}/${++job}`, ...(agent === undefined ? [] : [`--user-agent=${agent}`])]
    const child = spawn(executablePath, ['--headless', '--remote-debugging-port=0', ...ARGS, ...own, 'about:blank'])
    let address
    for await (const line of createInterface({ input: child.stderr })) {
      address = /ws:\S+/.exec(line)?.[0]
      if (address !== undefined) break
    }
    child.stderr.resume()
    const browser = await puppeteer.connect({ browserWSEndpoint: address, defaultViewport: null })
    const [page] = await browser.pages()
    return {
      page,
      async close() {
        const ended = new Promise((resolve) => child.once('close', resolve))
        await browser.close()
        await ended
      },
    }
  }
}

/** Opens the pages one after another; the scripts of challenges solve them. */
async function visit(page, { base, count }) {
  for (let number = 1; number <= count; number++) {
    const answer = await page.goto(`${base}/page/${number}`, { waitUntil: 'domcontentloaded' })
    if (answer?.headers()['sallyport-challenge'] !== undefined) await pass(page)
  }
}

/** The title of a page; empty where it is just being left. */
const titleOf = (page) => page.title().catch(() => '')

/** Waits until a challenge gives way to the page. The title is asked for from here: its Content-Security-Policy lets no string be evaluated. */
async function pass(page) {
  const end = Date.now() + PATIENCE
  while ((await titleOf(page)) !== 'Page') {
    if (Date.now() > end) throw new Error('the challenge was not solved')
    await after(50)
  }
}

const open = await { playwright, puppeteer, headless, patchright: playwright }[tool](`${tool}-core`)
for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line)
  let said = 'done'
  const { page, close } = await open(job.headers)
  try {
    await visit(page, job)
  } catch (error) {
    said = String(error).replaceAll('\n', ' ')
  }
  await close()
  process.stdout.write(`${said}\n`)
}
process.exit()
