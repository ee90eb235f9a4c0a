import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { openScene } from './scene.ts'

const TEXAN = '47.184.10.20'
const CARRIER = '172.56.1.1'

t.test('a rule by region, its decisions and claims are shown, also unknown ones', { skip: NO_BROWSER }, async (t) => {
  const rules = [
    { id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'block', status: 451 },
  ] as const
  const scene = await openScene({}, { policy: { preset: 'observe', rules: [...rules] } })
  const { sallyport, adminUrl } = scene
  const browser = await openBrowser(t, scene)
  const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
  if (!hasCities) return t.pass('no city file is installed')
  t.same([await scene.visit(TEXAN), await scene.visit(CARRIER)], [451, 200])
  for (const peer of [TEXAN, CARRIER]) {
    const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
    await sallyport.provenance.attestDecision(sallyport.decide(request), 'US-TX')
  }
  const { page, complaints, outside } = await openPage(t, browser, adminUrl, { viewport: { width: 390, height: 844 } })
  const shows = async (view: string, ...texts: readonly string[]) => {
    await page.goto(`${adminUrl}/#/${view}`)
    if (view === 'ledger') await page.getByRole('button', { name: 'Open', exact: true }).click()
    for (const text of texts) await page.getByText(text).first().waitFor()
    t.same(await axeFinds(page), [], view)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, `${view} is as wide as the screen`)
  }
  await shows('policy', '{"region":["US-TX"],"unknown":"ignore","status":451}')
  await shows(`inspect?target=${TEXAN}`, 'US-TX, Texas, by dbip-city-v4, confidence 0.75')
  await shows(`inspect?target=${CARRIER}`, 'unknown: a mobile carrier routes clients of many regions')
  await shows('ledger', 'United States, US-TX', 'United States, region unknown')
  await page.goto(`${adminUrl}/#/live`)
  await page.getByText(TEXAN).first().click()
  await page.getByText('451, for legal reasons').waitFor()
  t.same([complaints, outside], [[], []])
})
