import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAddress } from '@sallyport/core'
import t from 'tap'
import { axeFinds, NO_BROWSER, openBrowser, openPage } from './browser.ts'
import { NAUGHTY, openScene, VISITOR } from './scene.ts'

const AXES = 8

t.test('evidence is verified in the browser, axis by axis', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const browser = await openBrowser(t, scene)
  const { page, complaints, outside } = await openPage(t, browser, scene.adminUrl)
  await page.goto(`${scene.adminUrl}/#/ledger`)
  await page.getByText('Nothing was attested since the start.').waitFor()
  t.same(await axeFinds(page), [])

  const { provenance } = scene.sallyport
  for (const text of NAUGHTY) {
    await provenance.attest({
      account: 'site',
      address: parseAddress(VISITOR.tor) as never,
      claim: 'DE',
      context: { text },
    })
  }
  const home = await provenance.attest({ account: 'site', address: parseAddress(VISITOR.home) as never, claim: 'US' })
  await page.reload()
  await page.getByRole('button', { name: 'Open and verify' }).click()
  await page.getByText('nothing failed').waitFor()
  const axes = page.locator('.axes li')
  t.equal(await axes.count(), AXES)
  t.match(
    await axes.nth(1).innerText(),
    /pass[\s\S]*Who signed\s+Every record and checkpoint is signed by a key that you trust\./,
  )
  t.match(await page.getByRole('table').innerText(), /US[\s\S]*73\.162\.10\.20/)
  t.match(await page.locator('main').innerText(), 'Where a person was.', 'what it does not prove')
  t.same(await axeFinds(page), [])

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the evidence' }).click()
  const folder = t.testdir()
  const file = join(folder, 'evidence.json')
  await (await downloading).saveAs(file)
  const text = readFileSync(file, 'utf8')
  t.equal(JSON.parse(text).records.length, NAUGHTY.length + 1)

  const open = async (changed: string): Promise<void> => {
    writeFileSync(file, changed)
    await page.goto(`${scene.adminUrl}/#/health`)
    // The view before is gone, and what it showed.
    await page.locator('input[name="evidence"]').waitFor({ state: 'detached' })
    await page.goto(`${scene.adminUrl}/#/ledger`)
    await page.locator('input[name="evidence"]').setInputFiles(file)
  }
  await open(text)
  await page.getByText('nothing failed').waitFor()
  t.match(await axes.nth(1).innerText(), /not provided/, 'nobody named keys that are trusted')
  await open(text.replace(VISITOR.home, '73.162.10.99'))
  await page.getByText('it does not hold').waitFor()
  t.match(
    await page.locator('.axes').innerText(),
    new RegExp(`Attestation ${home.attestationId}: the address or context is not the one`),
  )
  const forged = JSON.parse(text)
  forged.records[0].dsse.signatures[0].sig = Buffer.alloc(64, 7).toString('base64')
  await open(JSON.stringify(forged))
  await page.getByText('no good signature by a trusted key.').waitFor()
  await open(JSON.stringify({ media_type: NAUGHTY[0], log: NAUGHTY[1], records: [{ attestation_id: NAUGHTY[2] }] }))
  await page.getByText('media_type: not a version that is known').waitFor()
  const chains = page.getByText('Records as they are chained')
  t.equal(await chains.count(), 0, 'nothing of it is shown as evidence')
  await open(text.replace('{"media_type"', '{"log":"","media_type"'))
  await page.getByText('"log" is there twice in one object').waitFor()
  for (const [other, said] of [
    ['null', 'The file holds null'],
    ['[null]', 'The file holds a list'],
    ['1', 'The file holds a number'],
    ['""', 'The file holds a text'],
    [text.replace('"records":[', '"records":[null,'), 'records.0: not an object'],
  ] as const) {
    await open(other)
    await page.getByText(said).waitFor()
    t.equal(await chains.count(), 0)
  }
  await open('{')
  await page.getByText('evidence.json is not JSON.').waitFor()
  t.same(complaints, [])
  t.same(outside, [])
})
