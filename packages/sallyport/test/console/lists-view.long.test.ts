import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { axeFinds, NO_BROWSER, openView } from './browser.ts'
import { ADMIN, NAUGHTY, openScene, until, WITHOUT_DATA } from './scene.ts'

/** A file of this name can be read, and none beside it with a longer name can be made. */
const LONG = 'x'.repeat(250)

async function listScene(t: Test) {
  const lines = '# mine\n198.51.100.0/24 # since May\nAS64500\n*BadBot*\n'
  const folder = t.testdir({ 'bad.txt': lines, [LONG]: '192.0.2.2\n' })
  const file = join(folder, 'bad.txt')
  const lists = {
    bad: { file },
    office: ['192.0.2.0/24', ...NAUGHTY],
    feed: { url: 'https://lists.example/x?key=s3cret' },
    long: { file: join(folder, LONG) },
  }
  const policy = { rules: [{ id: 'listed', match: { address: ['list:bad'] }, action: 'block' as const }] }
  return { scene: await openScene({}, { ...WITHOUT_DATA, lists, policy, net: { outbound: false } }), file }
}

t.test('lists are looked at, searched and changed in a browser', { skip: NO_BROWSER }, async (t) => {
  const { scene, file } = await listScene(t)
  const { page, complaints, outside, go, signIn } = await openView(t, scene)
  await go('lists')
  const table = page.getByRole('region', { name: 'Lists', exact: true })
  await table.getByRole('link', { name: 'bad' }).waitFor()
  t.match(await table.innerText(), /bad\tfile\s+\S+bad\.txt\s+loaded\t3\t\d+ s\n/)
  t.match(await table.innerText(), /feed\s+has not been fetched yet\s+url\s+lists\.example\s+absent/)
  t.notMatch(await page.content(), /s3cret/)

  await page.getByLabel('Address, AS number or text').fill('198.51.100.7')
  await page.keyboard.press('Enter')
  await table.getByText('yes').waitFor()
  t.match(await table.innerText(), /bad[\s\S]*yes[\s\S]*office[\s\S]*no[\s\S]*feed[\s\S]*unknown/)
  await table.getByRole('link', { name: 'bad' }).focus()
  await page.keyboard.press('Enter')
  const entries = page.getByRole('region', { name: 'Entries' })
  await entries.getByText('198.51.100.0/24').waitFor()
  t.equal(await entries.getByRole('row').count(), 2, 'the entry that holds it alone')
  t.equal(await page.getByRole('button', { name: 'Add' }).count(), 0, 'a reader changes nothing')

  await signIn()
  await go('lists?name=bad')
  const added = page.getByLabel('New entries, one per line')
  await added.fill('203.0.113.0/24\n198.51.100.0/24\n\nCurl*')
  await page.getByRole('button', { name: 'Add' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Added 203.0.113.0/24, Curl*. The change applies within a second.').waitFor()
  t.equal(await added.inputValue(), '')
  t.equal(readFileSync(file, 'utf8'), '# mine\n198.51.100.0/24 # since May\nAS64500\n*BadBot*\n203.0.113.0/24\nCurl*\n')
  await until(async () => (await scene.visit('203.0.113.9')) === 403)
  t.same(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Remove 198.51.100.0/24' }).click()
  await page.getByText('Removed 198.51.100.0/24. The change applies within a second.').waitFor()
  await until(async () => (await scene.visit('198.51.100.7')) === 200)
  t.equal(readFileSync(file, 'utf8'), '# mine\nAS64500\n*BadBot*\n203.0.113.0/24\nCurl*\n')

  await added.fill('300.1.1.1')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('alert').getByText('"300.1.1.1" is not an address').waitFor()
  t.equal(await added.inputValue(), '300.1.1.1', 'what was written stays')
  await page.getByRole('link', { name: 'office' }).click()
  await page.getByText('It is in the configuration. Change it there.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Remove' }).count(), 0)
  await page.getByRole('link', { name: 'feed' }).click()
  await page.getByText('It comes from a URL. Change it there.').waitFor()
  await page.getByRole('alert').getByText('has not been fetched yet').waitFor()
  await go(`lists?name=${encodeURIComponent('../x')}`)
  await table.waitFor()
  t.same([complaints, outside], [[], []])
})

t.test('a change of a list is made whole, written down, or refused with its reason', async (t) => {
  const { scene, file } = await listScene(t)
  t.teardown(scene.close)
  const written: unknown[] = []
  const { log } = scene.sallyport
  const audit = log.audit.bind(log)
  Object.assign(log, { audit: (act: Parameters<typeof audit>[0]) => audit(act) ?? written.push(act) })
  const change = (path: string, name: string, entries: string) => scene.ask(`lists/${path}`, { name, entries }, ADMIN)
  t.match(await change('add', 'bad', '192.0.2.9'), { status: 200, body: { changed: ['192.0.2.9'] } })
  t.match(await change('remove', 'bad', 'AS64500'), { status: 200, body: { changed: ['AS64500'] } })
  const before = readFileSync(file, 'utf8')
  for (const [name, entries, message] of [
    ['none', 'x', /There is no list "none"/],
    ['__proto__', 'x', /There is no list/],
    ['bad', ' \n ', /entries: is missing/],
    ['bad', '192.0.2.1\n1.2.3', /"1\.2\.3" is not an address/],
    ['long', '192.0.2.1', /cannot be changed: E/],
  ] as const)
    t.match(await change('add', name, entries), { status: 400, body: { message } })
  t.equal(readFileSync(file, 'utf8'), before)
  writeFileSync(file, '198.51.100.7\n', 'utf16le')
  t.match(await change('add', 'bad', '192.0.2.1'), { body: { message: /is not UTF-8/ } })
  const details = { name: 'bad', entries: ['192.0.2.9'] }
  t.match(written, [{ what: 'list add', who: 'console admin', details }, { what: 'list remove' }])
  t.equal(written.length, 2)
  const { body: listed } = await scene.ask('lists?q=AS64500')
  t.match(listed, [{ name: 'bad' }, { name: 'office', holds: false }, { name: 'feed', holds: null }, {}])
})
