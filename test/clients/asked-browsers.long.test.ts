import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { CHALLENGE_LEVELS } from '@sallyport/core'
import t, { type Test } from 'tap'
import { NO_CHROMIUM } from '../chromium.ts'
import { startOrigin } from '../hosts/proxy.ts'
import { disableCookies, FINDS, listen, openReader, opens, openTab, says } from './reader.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/* The page that asks, in a Chromium that is taken for a reader's. */
const skip = NO_CHROMIUM || NO_OPENSSL
const PASS = '/.sallyport/pass'
const isPass = ({ url }: IncomingMessage): boolean => url === PASS

/** A server in front that may answer itself, or change what passes. */
interface Front {
  answers?(req: IncomingMessage, res: ServerResponse): boolean
  readonly drops?: ((cookie: string) => boolean) | undefined
  readonly policy?: string | undefined
  /** The answer to a solution is that to its second copy. */
  readonly twice?: boolean | undefined
}

async function openFront(t: Test, site: string, front: Front): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const pass = (req: IncomingMessage, heard: (answer: IncomingMessage) => void): void => {
    const cookies = (req.headers.cookie ?? '').split('; ').filter((one) => front.drops?.(one) !== true)
    const headers = { ...req.headers, cookie: cookies.join('; ') }
    request(`${site}${req.url}`, { method: req.method ?? '', headers }, heard).end()
  }
  const url = await startOrigin(t, (req, res) => {
    if (!req.url?.includes('favicon')) asked.push(`${req.method} ${req.url}`)
    if (front.answers?.(req, res) === true) return
    const answer = (got: IncomingMessage): void => {
      const more = front.policy === undefined ? [] : ['content-security-policy', front.policy]
      res.writeHead(got.statusCode ?? 500, [...got.rawHeaders, ...more])
      got.pipe(res)
    }
    if (front.twice !== true || !isPass(req) || asked.filter((one) => one === `POST ${PASS}`).length > 1)
      pass(req, answer)
    else pass(req, (first) => first.resume().on('end', () => pass(req, answer)))
  })
  return { url, asked }
}

/** Opens a tab of a reader, and a site behind a front. */
async function openBehind(t: Test, front: Front) {
  const site = await openSite(t)
  return { ...(await openFront(t, site.url, front)), page: await openTab(t) }
}

for (const scheme of ['http', 'https'] as const) {
  t.test(`each level, over ${scheme}`, { skip }, async (t) => {
    const site = await openSite(t)
    const newContext = await openReader(t)
    for (const level of CHALLENGE_LEVELS) {
      const page = await (await newContext()).newPage()
      const complaints = listen(page)
      const url = `${scheme === 'http' ? site.url : site.secure}/asked/${level}?a=1`
      const first = await page.goto(`${url}#there`)
      t.equal(first?.status(), 403)
      await opens(page)
      t.equal(page.url(), level === 1 ? url : `${url}#there`)
      const protocol = await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")
      t.equal(protocol, scheme === 'http' ? 'http/1.1' : 'h2')
      t.equal(await page.evaluate('history.state'), null, 'the application finds nothing of ours in its history')
      t.same(complaints, [])
      await page.goto('about:blank')
      await page.goBack()
      await opens(page)
    }
    const seen = site.arrived.filter(({ target }) => target.startsWith('/asked'))
    t.ok(seen.every(({ target }) => /^\/asked\/\d\?a=1$/.test(target)))
    t.ok(seen.every(({ headers }) => headers['sallyport-solution'] === undefined))
  })
}

t.test('the status is said once or twice, and not with each puzzle', { skip }, async (t) => {
  const site = await openSite(t)
  const page = await openTab(t)
  const said: string[] = []
  await page.exposeFunction('heard', (text: string) => said.push(text))
  await page.addInitScript(`new MutationObserver((found) => {
    for (const { target } of found) if (target.id === 'said') heard(target.textContent)
  }).observe(document, { subtree: true, childList: true })`)
  await page.goto(`${site.url}/asked/3`)
  await opens(page)
  t.same([...new Set(said)].slice(-2), ['Waiting time: about 3 seconds.', 'Done. The page is opening.'])
  t.ok(said.length <= 4, said.join())
})

t.test('without script the refresh opens it, also under a stricter policy in front', { skip }, async (t) => {
  const site = await openSite(t)
  const newContext = await openReader(t)
  const plain = await (await newContext({ javaScriptEnabled: false })).newPage()
  const { url } = await openFront(t, site.url, { policy: "default-src 'self'" })
  const strict = await (await newContext()).newPage()
  await Promise.all([plain.goto(`${site.url}/asked/2`), strict.goto(`${url}/asked/2?strict`)])
  for (const page of [plain, strict]) {
    await says(page, 'Waiting time: about 8 seconds.')
    t.notOk(await page.getByRole('progressbar').isVisible(), 'a bar that does not move is not shown')
  }
  await Promise.all([opens(plain), opens(strict)])
  t.equal(strict.url(), `${url}/asked/2?strict`)
})

t.test('cookies refused are said, with script and without, and the page stays', { skip }, async (t) => {
  const site = await openSite(t)
  const newContext = await openReader(t)
  for (const javaScriptEnabled of [true, false]) {
    const { url, asked } = await openFront(t, site.url, { drops: () => true })
    const page = await (await newContext({ javaScriptEnabled })).newPage()
    if (javaScriptEnabled) await disableCookies(page)
    await page.goto(`${url}/asked/1`)
    await says(page, 'Your browser does not accept the cookie')
    await page.goto(`${url}/asked/2`)
    await says(page, 'Your browser does not accept the cookie')
    const count = asked.length
    // The longest wait that the page could come back after.
    await page.waitForTimeout(9_000)
    t.equal(asked.length, count)
    t.ok(count <= 4, asked.join())
    t.ok(await page.getByRole('link', { name: 'Open the page' }).isVisible())
  }
})

t.test('a late file, another tab and the way back spoil no pass', { skip }, async (t) => {
  const site = await openSite(t)
  const context = await (await openReader(t))()
  const [page, other] = [await context.newPage(), await context.newPage()]
  const pass = async () => (await context.cookies()).find(({ name }) => name === 'sallyport')?.value
  await page.goto(`${site.url}/asked/2`)
  await opens(page)
  const held = await pass()
  t.match(held, /^[\w-]{52}$/)
  const late = ['/asked/2/late.png', '/asked/2', '/asked/3/late.css'].map(
    (path) => `fetch('${path}', { credentials: '${path.includes('3') ? 'include' : 'omit'}' })`,
  )
  const statuses = await page.evaluate(`Promise.all([${late}].map(async (answer) => (await answer).status))`)
  t.same(statuses, [403, 403, 403], 'without the pass, and where it is not enough')
  t.equal(await pass(), held)
  await other.goto(`${site.url}/asked/3`)
  await opens(other)
  const better = await pass()
  t.not(better, held)
  for (const tab of [page, other]) {
    await tab.goto('about:blank')
    await tab.goBack()
    await opens(tab)
    await tab.reload()
    await opens(tab)
  }
  t.equal(await pass(), better)
})

t.test('who comes back to a question that was left asks again, and opens', { skip }, async (t) => {
  let isSilent = true
  // A solution that is not answered: the page is left while it waits.
  const { url, page } = await openBehind(t, { answers: (req) => isSilent && isPass(req) })
  await page.goto(`${url}/asked/2`)
  await page.locator('progress[value="32"]').waitFor()
  await page.goto('about:blank')
  isSilent = false
  await page.goBack()
  await opens(page)
})

t.test('a question that is spent is followed by another one', { skip }, async (t) => {
  const { url, asked, page } = await openBehind(t, { twice: true })
  await page.goto(`${url}/asked/2`)
  await opens(page)
  t.same(asked, ['GET /asked/2', `POST ${PASS}`, 'GET /asked/2', `POST ${PASS}`, 'GET /asked/2'])
})

t.test('a pass that does not hold ends after five questions', { skip }, async (t) => {
  const { url, asked, page } = await openBehind(t, { drops: (cookie) => cookie.startsWith('sallyport=') })
  await page.goto(`${url}/asked/2`)
  await says(page, 'The check did not work.')
  t.equal(asked.filter((one) => one === `POST ${PASS}`).length, 5)
  t.notOk(await page.getByRole('progressbar').isVisible())
  t.ok(await page.getByRole('link', { name: 'Open the page' }).isVisible())
})

t.test('six challenges that are solved in a tab open at once, of one page or of several', { skip }, async (t) => {
  const site = await openSite(t)
  const page = await openTab(t)
  for (const path of ['/asked/2?page=1', '/asked/2?page=1', '/asked/3', '/asked/2?page=2']) {
    for (const again of ['a link', 'a reload']) {
      // Whoever reloads a page has read it for longer than it takes to open.
      if (again === 'a reload') await page.waitForTimeout(2_100).then(() => page.reload())
      else await page.goto(`${site.url}${path}`)
      await opens(page)
      t.equal(await page.evaluate(`sessionStorage.getItem('sallyport-asked').split('.')[0]`), '1')
      await page.context().clearCookies()
    }
  }
})

t.test('a challenged download says that it starts, with script and without', { skip }, async (t) => {
  const site = await openSite(t, new Map([1, 2].map((level) => [`/asked/${level}/file.zip`, Buffer.from('PK')])))
  const newContext = await openReader(t)
  for (const level of [1, 2]) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await (await newContext({ javaScriptEnabled })).newPage()
      const download = page.waitForEvent('download')
      await page.goto(`${site.url}/asked/${level}/file.zip`)
      t.equal((await download).suggestedFilename(), 'file.zip')
      await says(page, 'If you requested a download, it starts and this page stays open.')
      t.notOk(await page.getByRole('progressbar').isVisible())
      t.ok(await page.getByRole('link', { name: 'Open the page' }).isVisible())
    }
  }
})

t.test('a server that sheds or limits is asked again, later each time', { skip }, async (t) => {
  const times: number[] = []
  const statuses = [503, 429, 503]
  const { url, asked, page } = await openBehind(t, {
    answers(req, res) {
      if (!isPass(req)) return false
      times.push(Date.now())
      const status = statuses.shift()
      if (status !== undefined) res.writeHead(status, { 'retry-after': '2' }).end()
      return status !== undefined
    },
  })
  await page.goto(`${url}/asked/2`)
  await says(page, 'The server is busy.')
  await opens(page)
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  t.ok(gaps.length === 3 && gaps.every((gap) => gap >= 2000) && (gaps[2] ?? 0) >= 4000, gaps.join())
  t.notMatch(asked.join(), 'again', 'the refresh does not take the page away')
})

t.test('where its path is another one’s, the page gives its solution to the wanted URL', { skip }, async (t) => {
  const site = await openSite(t)
  for (const status of [200, 404, 405, 500, 501]) {
    const { url, asked } = await openFront(t, site.url, {
      answers: (req, res) => isPass(req) && res.writeHead(status).end() !== undefined,
    })
    const page = await openTab(t)
    await page.goto(`${url}/asked/2`)
    await opens(page)
    t.same(asked, ['GET /asked/2', `POST ${PASS}`, 'GET /asked/2', 'GET /asked/2'], String(status))
  }
})

const LOCALES = 'en-GB de-AT fr-FR es-ES it-IT nl-NL pt-BR pl-PL tr-TR ru-RU uk-UA ar-EG ja-JP ko-KR zh-CN zh-TW'

t.test('the page in every language, light and dark, on a telephone and at 400 %', { skip }, async (t) => {
  const site = await openSite(t)
  // A solution that is never answered: the page stays.
  const { url } = await openFront(t, site.url, { answers: isPass })
  const newContext = await openReader(t)
  const papers = new Set<unknown>()
  for (const [at, locale] of LOCALES.split(' ').entries()) {
    const colorScheme = at % 2 === 0 ? 'light' : 'dark'
    const viewport = { width: 320, height: 256 }
    const context = await newContext({ locale, colorScheme, reducedMotion: 'reduce', viewport })
    const page = await context.newPage()
    await page.goto(`${url}/asked/2`)
    await page.locator('progress[value="32"]').waitFor()
    t.same(await page.evaluate(FINDS), [], `${locale}, ${colorScheme}`)
    t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), locale)
    t.equal(await page.evaluate('document.getAnimations().length'), 0)
    const direction = await page.evaluate('getComputedStyle(document.querySelector("h1")).direction')
    t.equal(direction, /^ar/.test(locale) ? 'rtl' : 'ltr')
    papers.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    await disableCookies(page)
    await page.reload()
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate('document.activeElement.parentElement.id'), 'again', `${locale}, the link`)
    t.same(await page.evaluate(FINDS), [], `${locale}, without cookies`)
    await context.close()
  }
  t.equal(papers.size, 2)
})

t.test('a frame of another site is asked only where cookies are partitioned', { skip }, async (t) => {
  const newContext = await openReader(t)
  for (const partitioned of [true, false]) {
    const site = await openSite(t, new Map(), { challenge: { partitioned } })
    const frames = [1, 2].map((level) => `<iframe name="${level}" src="${site.secure}/asked/${level}"></iframe>`)
    const html = `<!doctype html><title>Another site</title>${frames.join('')}`
    const page = await (await newContext()).newPage()
    await page.goto(await startOrigin(t, (_, res) => res.setHeader('content-type', 'text/html').end(html)))
    for (const level of [1, 2]) {
      const frame = page.frameLocator(`iframe[name="${level}"]`)
      if (partitioned) await frame.getByRole('heading', { name: 'Another page' }).waitFor()
      else await frame.getByText('challenge_required').waitFor()
    }
    // A pass of a frame is one of the site around it: the same site in a window of its own has another.
    t.equal((await page.goto(`${site.secure}/asked/2`))?.status(), 403)
    await opens(page)
  }
})
