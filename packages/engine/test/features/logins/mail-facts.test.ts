import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t, { type Test } from 'tap'
import { listsFolder, listsIn } from '../../../build/lists.ts'
import type { ConfigInput } from '../../../src/config/service/index.ts'
import { readMailDomains } from '../../../src/datasets/parse/mail-domains.ts'
import { openNameServer, type Reply } from '../../net/name-server.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { GUARD, openGuarded } from './guarded.ts'

const ROW = SOURCES.find(({ id }) => id === 'throwaway-mail') as SourceRow

async function opened(t: Test, more: ConfigInput = {}) {
  const list = 'mailinator.com\nmail.servers.example\nxn--bcher-kva.example\n'
  const made = madeConfig(t.testdir(), { 'throwaway-mail': list })
  const { sallyport, assess } = await openGuarded(t, { ...made, ...more })
  const signup = (identifier: string, event: 'signup' | 'login' = 'signup') => assess({ event, identifier })
  return { sallyport, signup }
}

t.test('throwaway mail is blocked at sign-up, by the list and its date', async (t) => {
  const { sallyport, signup } = await opened(t)
  const status = sallyport.sources().find(({ id }) => id === ROW.id)
  t.match(status, { state: 'loaded', entries: 3, date: /^\d{4}-\d\d-\d\d$/ })
  const blocked = await signup('ada@mailinator.com')
  t.match(blocked, { action: 'block', rule: 'account-throwaway', mail: { disposable: true } })
  const reason = blocked.reasons.find(({ id }) => id === 'account:disposable')
  t.match(reason, { source: ROW.id, date: status?.date })
  t.match(await signup('ada@eu.mailinator.com'), { action: 'block' }, 'a host of it')
  t.match(await signup('ada@a.mail.servers.example'), { action: 'block' }, 'a host of a listed host')
  for (const spelling of ['ADA@MAILINATOR.COM.', '"a b"@(a comment)mailinator.com', 'ada@bu\u0308cher.example']) {
    t.match(await signup(spelling), { action: 'block' }, JSON.stringify(spelling))
  }
  for (const other of ['ada@servers.example', 'ada@other-mailinator.com', 'ada@mailinator.com.example']) {
    t.match(await signup(other), { action: 'allow', mail: { disposable: false } }, other)
  }
  t.match(await signup('ada@mailinator.com', 'login'), { action: 'allow' }, 'who has an account keeps it')
})

t.test('a list is read where a rule asks for it, and another copy is taken over', async (t) => {
  const { sallyport, signup } = await opened(t, { policy: { preset: 'observe', rules: [] } })
  t.equal((await signup('ada@mailinator.com')).mail.disposable, undefined, 'no rule asks')
  await sallyport.reload({ ...sallyport.config, policy: GUARD })
  t.match(await signup('ada@mailinator.com'), { mail: { disposable: true } })
  const not = { id: 'not', match: { event: ['signup' as const], not: { mail: { disposable: true } } } }
  await sallyport.reload({ ...sallyport.config, policy: { rules: [{ ...not, action: 'flag' }] } })
  t.match(await signup('ada@mailinator.com'), { action: 'allow', mail: { disposable: true } }, 'a negation asks too')
})

t.test('without a list nothing is known, and nobody is refused', async (t) => {
  const { signup } = await opened(t, { data: { refresh: false, sources: { [ROW.id]: { enabled: false } } } })
  t.match(await signup('ada@mailinator.com'), { action: 'allow', mail: { disposable: undefined } })
})

t.test('the list that comes with a release holds no large provider', async (t) => {
  t.match(listsIn(listsFolder()).find(({ id }) => id === ROW.id)?.made, /^\d{4}-\d\d-\d\dT/, 'its date')
  const path = join(listsFolder(), ROW.id)
  const domains = readMailDomains(ROW, { path, bytes: readFileSync(path) })
  t.ok(domains.size > 8_000, `${domains.size} domains`)
  for (const known of ['mailinator.com', 'yopmail.com', 'guerrillamail.com']) t.ok(domains.has(known), known)
  const file = new URL('../../../../test/features/logins/mail-providers.txt', import.meta.url)
  const providers = readFileSync(file, 'utf8').split('\n').slice(1, -1)
  t.ok(providers.length > 500)
  t.notOk(providers.find((name) => domains.has(name)))
})

t.test('another text is no list of domains', async (t) => {
  const read = (text: string) => readMailDomains(ROW, { path: 'list', bytes: Buffer.from(text) })
  t.same([...read('# a comment\nA.Example\n\nb.example # why\nsify.com\n')], ['a.example', 'b.example'])
  for (const text of ['', '<html>\n<p>404 not found</p>\n', '{"a.example": true}', 'ada@a.example\n', 'com\n']) {
    t.throws(() => read(text), { code: 'corrupt_data' }, text)
  }
})

const ASKS_MX: ConfigInput['policy'] = {
  rules: [{ id: 'no-mx', match: { event: ['signup'], mail: { noMx: true } }, action: 'flag' }],
}
/** A zone has its records by type and name. */
const ZONE: Readonly<Record<string, Reply>> = {
  'MX mail.example': ['mx.mail.example'],
  'MX null.example': ['.'],
  'A implicit.example': ['192.0.2.7'],
  'MX gone.example': 'NXDOMAIN',
  'A gone.example': 'NXDOMAIN',
  'AAAA gone.example': 'NXDOMAIN',
  'MX broken.example': 'SERVFAIL',
  'MX silent.example': 'silent',
}

t.test('a name server says that a domain takes no mail', async (t) => {
  const server = await openNameServer(t, (type, name) => ZONE[`${type} ${name}`] ?? [])
  const dns = { servers: [server.address], timeoutMs: 30_000 }
  const { sallyport, signup } = await opened(t, { policy: ASKS_MX, dns })
  const countAsked = () => server.asked.filter((question) => /gone|gmail/.test(question)).length
  const noMx = async (host: string) => (await signup(`ada@${host}`)).mail.noMx
  t.equal(await noMx('mail.example'), false)
  t.equal(await noMx('null.example'), true, 'an empty record')
  t.equal(await noMx('implicit.example'), false, 'a host without a record takes its own mail')
  t.equal(await noMx('gone.example'), true)
  const flagged = await signup('ada@gone.example')
  t.equal(flagged.action, 'flag')
  t.match(flagged.reasons.find(({ id }) => id === 'account:no_mx')?.text, /gone\.example takes no mail/)
  t.equal(await noMx('broken.example'), undefined, 'a name server that fails says nothing')
  const hurried = await opened(t, { policy: ASKS_MX, dns: { ...dns, timeoutMs: 50 } })
  t.equal((await hurried.signup('ada@silent.example')).mail.noMx, undefined, 'one that is silent neither')
  const asked = countAsked()
  t.equal((await signup('ada@gone.example', 'login')).mail.noMx, undefined, 'a login asks nobody')
  await signup('ada@gmail.com')
  await sallyport.reload({ ...sallyport.config, policy: GUARD })
  await signup('ada@gone.example')
  t.equal(countAsked(), asked, 'nor does a sign-up for which no rule wants to know')
  const closed = await opened(t, { policy: ASKS_MX, dns, net: { outbound: false } })
  t.equal((await closed.signup('ada@gone.example')).mail.noMx, undefined, 'net.outbound: false')
  t.equal(countAsked(), asked)
})
