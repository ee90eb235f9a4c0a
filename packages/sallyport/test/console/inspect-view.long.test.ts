import t from 'tap'
import { axeFinds, NO_BROWSER, openView, PHONE, readWidth } from './browser.ts'
import { NAUGHTY, openScene, VISITOR } from './scene.ts'

t.test('an address, a range and a name are explained, and bad input is said', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  await scene.visit(VISITOR.tor)
  const { page, complaints, outside, go } = await openView(t, scene)
  await go('inspect')
  await page.getByLabel('Address, CIDR, hostname or URL').fill(VISITOR.tor)
  await page.keyboard.press('Enter')
  await page.getByText('The address is an exit of the Tor network.').waitFor()
  const shown = await page.locator('main').innerText()
  for (const text of ['Tor', 'AS60729', 'Germany', 'dirty', '185.220.101.0/24']) t.match(shown, text)
  t.equal(await page.getByRole('link', { name: 'Recent requests' }).getAttribute('href'), `#/live?text=${VISITOR.tor}`)
  await page.locator('.map .counted').waitFor()
  t.match(page.url(), `#/inspect?target=${VISITOR.tor}`, 'a link that can be shared')

  for (const [target, said] of [
    ['10.1.2.3', 'A reserved address has no location.'],
    ['2001:4860:4860::/48', 'Google LLC'],
    // The resolver of this scene resolves no name.
    ['example.org', 'unresolved_target'],
  ] as const) {
    await go(`inspect?target=${target}`)
    await page.getByText(said).waitFor()
  }
  for (const target of NAUGHTY) {
    await go(`inspect?${new URLSearchParams({ target })}`)
    await page.getByRole('alert').waitFor()
    t.equal(await page.getByLabel('Address, CIDR, hostname or URL').inputValue(), target, target)
  }
  t.same([complaints, outside], [[], []])
})

t.test('crawlers are listed, verified and remembered', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const { page, complaints, outside, go } = await openView(t, scene)
  await go('crawlers')
  await page.getByText('No request has claimed to be a crawler since the service started.').waitFor()
  for (const text of NAUGHTY)
    await scene.visit(VISITOR.home, { userAgent: `Google-Extended/1.0 ${text}`, path: `/${encodeURIComponent(text)}` })
  await page.reload()
  await page.getByRole('table').first().waitFor()
  t.match(await page.locator('main').innerText(), /Google-Extended\s+spoofed/)

  await page.getByLabel('Address').fill(VISITOR.home)
  await page.getByLabel('Claims to be').selectOption('google-extended')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.locator('[aria-live]').getByText('spoofed').first().waitFor()
  await page.getByLabel('Address').fill('<b>nowhere</b>')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('invalid_ip').waitFor()

  await page.getByLabel('Find').fill('gptbot')
  const catalogue = page.getByRole('region', { name: /Catalogue:/ })
  t.match(await catalogue.innerText(), /GPTBot\s+OpenAI\s+training\s+published ranges \(not loaded\)/)
  await page.getByLabel('Find').fill(NAUGHTY[0])
  await page.getByText('No crawler matches this name').waitFor()
  t.same([complaints, outside], [[], []])
})

t.test('the directory is searched and sorted, and shows one system', { skip: NO_BROWSER }, async (t) => {
  const { page, complaints, go } = await openView(t, await openScene(), { viewport: PHONE })
  await go('directory')
  await page.getByRole('heading', { name: /Largest of [\d,]+ autonomous systems/ }).waitFor()
  await page.getByLabel('Name or number').fill('hetzner')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'AS24940', exact: true }).click()
  const one = page.getByRole('region', { name: 'AS24940' })
  await one.getByText('Hetzner Online GmbH').waitFor()
  await one.getByText('unknown, because no lists are loaded').first().waitFor()
  t.equal(await readWidth(page), PHONE.width)
  await page.getByLabel('Name or number').fill(NAUGHTY[0])
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByText('No autonomous system has this name or number.').waitFor()
  t.same(complaints, [])
})

const TEXAN = '47.184.10.20'
const CARRIER = '172.56.1.1'

t.test('a rule by region, its decisions and claims are shown, also unknown ones', { skip: NO_BROWSER }, async (t) => {
  const match = { region: ['US-TX'] }
  const rules = [{ id: 'texas', match, unknown: 'ignore' as const, action: 'block' as const, status: 451 as const }]
  const scene = await openScene({}, { policy: { preset: 'observe', rules } })
  const { page, complaints, outside, go } = await openView(t, scene, { viewport: PHONE })
  const { sallyport } = scene
  const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
  if (!hasCities) return t.pass('no city file is installed')
  t.same([await scene.visit(TEXAN), await scene.visit(CARRIER)], [451, 200])
  for (const peer of [TEXAN, CARRIER]) {
    const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
    await sallyport.provenance.attestDecision(sallyport.decide(request), 'US-TX')
  }
  const shows = async (view: string, ...texts: readonly string[]) => {
    await go(view)
    if (view === 'ledger') await page.getByRole('button', { name: 'Open', exact: true }).click()
    for (const text of texts) await page.getByText(text).first().waitFor()
    t.same(await axeFinds(page), [], view)
    t.equal(await readWidth(page), PHONE.width, `${view} is as wide as the screen`)
  }
  await shows('policy', '{"region":["US-TX"],"unknown":"ignore","status":451}')
  await shows(`inspect?target=${TEXAN}`, 'US-TX, Texas, by dbip-city-v4, confidence 0.75')
  await shows(`inspect?target=${CARRIER}`, 'unknown: a mobile carrier routes clients of many regions')
  await shows('ledger', 'United States, US-TX', 'United States, region unknown')
  await go('live')
  await page.getByText(TEXAN).first().click()
  await page.getByText('451, for legal reasons').waitFor()
  t.same([complaints, outside], [[], []])
})
