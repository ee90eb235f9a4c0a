import t from 'tap'
import { openEnded } from '../../src/console/access/ended.ts'
import { createSessions } from '../../src/console/access/sessions.ts'
import { consoleRows } from '../../src/console/routes/index.ts'
import { visit } from '../cli/command.ts'
import { ADMIN, openScene, READER, WITHOUT_DATA } from './scene.ts'

const OWN = { 'x-sallyport-console': '1' }
const rows = consoleRows()

t.test('every route that changes something wants the role, the method and the page for it', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    visit(`${adminUrl}/console/api/${path.replace('*', 'nobody')}`, headers, method === 'POST' ? '{}' : undefined)
  const refuses = async (status: number, method: string, path: string, headers: Record<string, string>, who: string) =>
    t.equal((await ask(method, path, headers)).status, status, `${method} ${path} ${who}`)
  const signed = await ask('POST', 'session', { ...OWN, authorization: `Bearer ${ADMIN}` })
  const cookie = signed.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? ''
  t.match(cookie, /^sallyport-console=admin\./)
  const changing = rows.filter(({ method }) => method !== 'GET')
  t.ok(rows.length > 20 && changing.length > 8, 'the table is read')
  const read = rows.filter(({ method, role }) => method === 'GET' && role === 'admin')
  t.same(read, [], 'no GET is of an administrator alone')
  for (const { path, role, method } of rows)
    if (role !== 'anyone') await refuses(401, method, path, OWN, 'without a token')
  for (const { path, role, method } of changing) {
    const isRead = rows.some((row) => row.path === path && row.method === 'GET')
    if (!isRead) await refuses(405, 'GET', path, { cookie }, 'changes nothing')
    await refuses(403, method, path, { cookie }, 'without the field of the page')
    await refuses(403, method, path, { ...OWN, cookie, origin: 'http://attacker.example' }, 'from another page')
    if (role !== 'read') await refuses(403, method, path, { authorization: `Bearer ${READER}` }, 'by a reader')
  }
})

t.test('one client is answered so many calls and no more, with bodies of 32 KB at most', async (t) => {
  const { adminUrl, ask, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  const check = async (text: string) => (await ask('policy/check', { text })).status
  t.equal(await check('#'.repeat(32_000)), 200)
  t.equal(await check('#'.repeat(33_000)), 413)
  const authorization = `Bearer ${READER}`
  const chunked = { authorization, 'transfer-encoding': 'chunked' }
  const long = JSON.stringify({ text: '#'.repeat(100_000) })
  t.equal((await visit(`${adminUrl}/console/api/policy/check`, chunked, long)).status, 413)
  t.ok([200, 400].includes(await check('['.repeat(32_000))), 'what is nested too deeply is a fault, or too much')
  t.equal(await check(''), 200, 'and the service goes on')
  let last = await visit(`${adminUrl}/console/api/session`, { authorization })
  let calls = 0
  for (; calls < 400 && last.status !== 429; calls++)
    last = await visit(`${adminUrl}/console/api/session`, { authorization })
  t.equal(last.status, 429)
  t.ok(Number(last.headers['retry-after']) > 0)
  t.ok(calls > 200, 'who looks and clicks is not in the way of it')
})

t.test('a session ends after a working day, and with other tokens', async (t) => {
  const now = Date.parse('2026-11-25T08:00:00Z')
  const open = (secret: string) =>
    createSessions(
      Buffer.from(secret),
      openEnded(undefined, () => {}),
    )
  const sessions = open('one')
  const { value, session } = sessions.open('admin', now)
  t.equal(session.until - now, 8 * 3_600_000)
  t.match(sessions.read(value, session.until - 1), { role: 'admin' })
  t.equal(sessions.read(value, session.until), undefined)
  t.equal(open('another').read(value, now), undefined)
})
