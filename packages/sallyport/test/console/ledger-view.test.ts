import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAddress } from '@sallyport/core'
import { verifyEvidence } from '@sallyport/ledger/verify'
import t from 'tap'
import { NO_BROWSER, openView } from './browser.ts'
import { NAUGHTY, openScene, VISITOR } from './scene.ts'

t.test('evidence is shown, and what is downloaded verifies', { skip: NO_BROWSER }, async (t) => {
  const scene = await openScene()
  const { page, complaints, outside, go } = await openView(t, scene)
  await go('ledger')
  await page.getByText('There are no attestations since the start.').waitFor()

  const { provenance } = scene.sallyport
  const attest = (address: string, claim: string, context?: { readonly text: string }) =>
    provenance.attest({ account: 'site', address: parseAddress(address) as never, claim, ...(context && { context }) })
  for (const text of NAUGHTY) await attest(VISITOR.tor, 'DE', { text })
  await attest(VISITOR.home, 'US')
  await page.reload()
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByText('Chained records').waitFor()
  t.match(await page.getByRole('table').innerText(), /US[\s\S]*73\.162\.10\.20/)
  t.match(await page.locator('main').innerText(), 'Where a person was.', 'what it does not prove')
  t.match(await page.locator('main').innerText(), 'sallyport evidence verify evidence.json --keys keys.json')

  const folder = t.testdir()
  const download = async (button: string, name: string) => {
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: button }).click()
    await (await downloading).saveAs(join(folder, name))
    return readFileSync(join(folder, name), 'utf8')
  }
  const evidence = await download('Download evidence', 'evidence.json')
  t.equal(JSON.parse(evidence).records.length, NAUGHTY.length + 1)
  const report = verifyEvidence(evidence, await download('Download keys', 'keys.json'))
  t.match(report, { ok: true, axes: { authenticity: { outcome: 'pass' } } })

  await page.locator('input[name="id"]').fill('4711')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('alert').getByText('attestation_not_found').waitFor()
  const others = complaints.filter((complaint) => !complaint.includes('404'))
  t.same(others, [])
  t.same(outside, [])
})
