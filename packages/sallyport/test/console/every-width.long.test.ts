import t from 'tap'
import { GPTBOT } from '../cli/command.ts'
import { NO_BROWSER, openView } from './browser.ts'
import { countAlsoBefore } from './past.ts'
import { ADMIN, openScene, type Scene, until, VISITOR } from './scene.ts'
import { viewIds } from './views.ts'

const WIDTHS = [390, 820, 1440, 1920] as const
const QUESTIONS: Readonly<Record<string, string>> = { inspect: `?target=${VISITOR.tor}`, lists: '?name=partners' }

/** Opens a scene with visitors of all kinds, an account, a ban and evidence, in the hours of a day. */
async function openBusyScene(dataDir: string): Promise<Scene> {
  const ask = { id: 'ask-reader', match: { path: ['/login'] }, action: 'challenge', challenge: { level: 2 } } as const
  const tor = { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block', monitor: true } as const
  const lists = { partners: ['192.0.2.0/24', '198.51.100.7'] }
  const scene = await openScene({ savePolicy: async () => {} }, { dataDir, lists, policy: { rules: [ask, tor] } })
  for (const address of [...Object.values(VISITOR), '45.83.220.10', '133.242.0.1', '1.1.1.1', '200.160.2.3'])
    for (const path of ['/', '/login', '/articles/gates']) {
      await scene.visit(address, { path })
      await scene.visit(address, { path, userAgent: GPTBOT })
      await scene.visit(address, { path, userAgent: 'Google-Extended/1.0' })
    }
  const { keyring, bans } = scene.sallyport
  await keyring.issue({ name: 'A shop' })
  const now = Date.now()
  await bans.put({ id: 'b', key: 'address 5.9.10.20', on: 'blocked', count: 3, since: now, until: now + 600_000 })
  await scene.awaitToday((today) => today?.requests === 72)
  countAlsoBefore(dataDir, 23)
  return scene
}

/** What a person would call a fault of the layout: cut words, no margin, holes between cards, columns that no row fills. */
const FAULTS = `(() => {
    const faults = []
    const named = (one) => one.localName + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40)
    const boxes = (selector, within = document) => [...within.querySelectorAll(selector)]
      .map((one) => ({ one, ...one.getBoundingClientRect().toJSON() })).filter(({ width, height }) => width + height > 0)
    if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the window')
    for (const { one } of boxes('.badge, button, .card header, nav a, .scroll'))
      if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0) faults.push('cut: ' + named(one))
    for (const { one, left, right } of boxes('.side .brand, .side button, main > *, .card'))
      if (left < 11 || right > innerWidth - 11) faults.push('no margin: ' + named(one))
    for (const { one, right } of boxes('.grid, .numbers')) {
      const rows = Map.groupBy(boxes(':scope > *', one), ({ top }) => Math.round(top))
      for (const row of rows.values()) {
        if (right - Math.max(...row.map((cell) => cell.right)) > 2) faults.push('a hole beside: ' + named(row.at(-1).one))
        if (new Set(row.map(({ bottom }) => Math.round(bottom))).size > 1) faults.push('a hole below: ' + named(row[0].one))
      }
    }
    for (const { one, height } of boxes('.map')) {
      const list = boxes('.world > :last-child', one.closest('.card'))[0]
      if (Math.round(list.top) === Math.round(boxes('.map')[0].top) && Math.abs(list.height - height) > 160) faults.push('a hole beside the map')
    }
    for (const { one } of boxes('table')) {
      const rows = [...one.tBodies[0].rows]
      for (const [at, head] of [...one.tHead.rows[0].cells].entries())
        if (rows.length > 0 && rows.every((row) => row.cells[at].textContent === '')) faults.push('an empty column: ' + named(head))
    }
    return faults
  })()`

t.test('every view keeps its words, margins and grid in four widths', { skip: NO_BROWSER }, async (t) => {
  const scene = await openBusyScene(t.testdir())
  const { page, complaints, settle } = await openView(t, scene)
  const headers = { authorization: `Bearer ${ADMIN}` }
  await page.request.post(`${scene.adminUrl}/console/api/session`, { headers, data: {} })
  for (const id of await viewIds())
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await settle(`${id}${QUESTIONS[id] ?? ''}`)
      await until(async () => (await page.locator('div.map').count()) === 0)
      t.same(await page.evaluate(FAULTS), [], `${id}, ${width} wide`)
    }
  t.same(complaints, [])
})
