import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { NAUGHTY, openScene, VISITOR } from './scene.ts'

t.test('an address, a range and a name are explained, and bad input is said', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  await scene.visit(VISITOR.tor)
  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl)
  await page.goto(`${scene.adminUrl}/#/inspect`)
  t.same(await axeFinds(page), [])
  await page.getByLabel('Address, CIDR, hostname or URL').fill(VISITOR.tor)
  await page.keyboard.press('Enter')
  await page.getByText('The address is an exit of the Tor network.').waitFor()
  const shown = await page.locator('main').innerText()
  for (const text of ['Tor', 'AS60729', 'Germany', 'dirty', '185.220.101.0/24']) t.match(shown, text)
  t.equal(await page.getByRole('link', { name: 'Recent requests' }).getAttribute('href'), `#/live?text=${VISITOR.tor}`)
  await page.locator('.map .counted').waitFor()
  t.match(page.url(), `#/inspect?target=${VISITOR.tor}`, 'a link that can be shared')
  t.same(await axeFinds(page), [])

  await page.goto(`${scene.adminUrl}/#/inspect?target=10.1.2.3`)
  await page.getByText('A reserved address has no location.').waitFor()
  await page.goto(`${scene.adminUrl}/#/inspect?target=2001:4860:4860::/48`)
  await page.getByText('Google LLC').waitFor()
  // The resolver of this scene resolves no name.
  await page.goto(`${scene.adminUrl}/#/inspect?target=example.org`)
  await page.getByText('unresolved_target').waitFor()
  for (const target of NAUGHTY) {
    await page.goto(`${scene.adminUrl}/#/inspect?${new URLSearchParams({ target })}`)
    await page.getByRole('alert').waitFor()
    t.equal(await page.getByLabel('Address, CIDR, hostname or URL').inputValue(), target, target)
  }
  t.same(await axeFinds(page), [])
  t.same(complaints, [])
  t.same(outside, [])
})

t.test('crawlers are listed, verified and remembered', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl)
  await page.goto(`${scene.adminUrl}/#/crawlers`)
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
  t.same(await axeFinds(page), [])
  t.same(complaints, [])
  t.same(outside, [])
})

t.test('the directory is searched and sorted, and shows one system', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  const { page, complaints } = await openPage(t, browser, scene.adminUrl, { viewport: { width: 390, height: 800 } })
  await page.goto(`${scene.adminUrl}/#/directory`)
  await page.getByRole('heading', { name: /Largest of [\d,]+ autonomous systems/ }).waitFor()
  await page.getByLabel('Name or number').fill('hetzner')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'AS24940', exact: true }).click()
  const one = page.getByRole('region', { name: 'AS24940' })
  await one.getByText('Hetzner Online GmbH').waitFor()
  await one.getByText('unknown, because no lists are loaded').first().waitFor()
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  for (const text of NAUGHTY) {
    await page.getByLabel('Name or number').fill(text)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('No autonomous system has this name or number.').waitFor()
  }
  t.same(await axeFinds(page), [])
  t.same(complaints, [])
})
