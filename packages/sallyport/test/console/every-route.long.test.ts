import t from 'tap'
import { openEnded } from '../../src/console/access/ended.ts'
import { createSessions } from '../../src/console/access/sessions.ts'
import { consoleRows } from '../../src/console/routes/index.ts'
import { ADMIN, AS_READER, openScene, READER } from './scene.ts'

const OWN = { 'x-sallyport-console': '1' }
const rows = consoleRows()
const changing = rows.filter(({ method }) => method !== 'GET')

t.test('every route that changes something wants the role, the method and the page for it', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
    const url = `${adminUrl}/console/api/${path.replace('*', 'nobody')}`
    const response = await fetch(url, { method, headers, ...(method === 'POST' && { body: '{}' }) })
    await response.body?.cancel()
    return { status: response.status, cookie: response.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
  }
  const { cookie } = await ask('POST', 'session', { ...OWN, authorization: `Bearer ${ADMIN}` })
  t.match(cookie, /^sallyport-console=admin\./)
  t.ok(rows.length > 20 && changing.length > 8, 'the table is read')
  t.same(
    rows.filter(({ method, role }) => method === 'GET' && role === 'admin').map(({ path }) => path),
    [],
    'nothing that only an administrator may do is a GET',
  )
  for (const { path, role, method } of rows) {
    if (role === 'anyone') continue
    t.equal((await ask(method, path, OWN)).status, 401, `${method} ${path} without a token`)
  }
  for (const { path, role, method } of changing) {
    if (!rows.some((row) => row.path === path && row.method === 'GET')) {
      t.equal((await ask('GET', path, { cookie })).status, 405, `GET ${path} changes nothing`)
    }
    t.equal((await ask(method, path, { cookie })).status, 403, `${method} ${path} without the field of the page`)
    const other = { ...OWN, cookie, origin: 'http://attacker.example' }
    t.equal((await ask(method, path, other)).status, 403, `${method} ${path} from another page`)
    if (role === 'read') continue
    t.equal((await ask(method, path, { ...OWN, authorization: `Bearer ${READER}` })).status, 403, `${path} by a reader`)
  }
})

t.test('one client is answered so many calls and no more', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  const statuses: number[] = []
  for (let call = 0; call < 400 && statuses.at(-1) !== 429; call++) {
    const response = await fetch(`${adminUrl}/console/api/session`, { headers: AS_READER })
    await response.body?.cancel()
    statuses.push(response.status)
    if (response.status === 429) t.ok(Number(response.headers.get('retry-after')) > 0)
  }
  t.equal(statuses.at(-1), 429)
  t.ok(statuses.length > 200, 'who looks and clicks is not in the way of it')
})

t.test('a body is 32 KB at most, in what is declared and in what comes', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  const send = async (text: string, chunked = false) => {
    const body = JSON.stringify({ text })
    const whole = new Blob([body])
    const { status } = await fetch(`${adminUrl}/console/api/policy/check`, {
      method: 'POST',
      headers: AS_READER,
      duplex: 'half',
      body: chunked ? whole.stream() : body,
    } as RequestInit)
    return status
  }
  t.equal(await send('#'.repeat(32_000)), 200)
  t.equal(await send('#'.repeat(33_000)), 413)
  t.equal(await send('#'.repeat(100_000), true), 413)
  t.ok([200, 400].includes(await send('['.repeat(32_000))), 'what is nested too deeply is a fault, or too much')
  t.equal(await send(''), 200, 'and the service goes on')
})

t.test('a session ends after a working day, and with other tokens', async (t) => {
  const now = Date.parse('2026-11-25T08:00:00Z')
  const sessions = createSessions(
    Buffer.from('one'),
    openEnded(undefined, () => {}),
  )
  const { value, session } = sessions.open('admin', now)
  t.equal(session.until - now, 8 * 3_600_000)
  t.match(sessions.read(value, session.until - 1), { role: 'admin' })
  t.equal(sessions.read(value, session.until), undefined)
  t.equal(
    createSessions(
      Buffer.from('another'),
      openEnded(undefined, () => {}),
    ).read(value, now),
    undefined,
  )
})
