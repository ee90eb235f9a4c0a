import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { createClient } from '@redis/client'
import t, { type Test } from 'tap'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import type { ConfigInput } from '../../../src/config/service/index.ts'
import type { AccountEvent } from '../../../src/features/logins/read-event.ts'
import { temporaryFolder } from '../../stores/processes.ts'
import { HOME, HOUR, openGuarded, SECRET, stranger } from './guarded.ts'

const OWNER = { user: '17', outcome: 'success' } as const
const GUESS = { user: '17', outcome: 'failure' } as const
const SIGNUP = { event: 'signup', outcome: 'success' } as const

t.test('slow guesses from other addresses, one an hour for a month', async (t) => {
  const clock = { now: Date.now() }
  const { assess } = await openGuarded(t, {}, { clock: { now: () => clock.now } })
  await assess(OWNER)
  let guesses = 0
  for (let at = 0; at < 30 * 24; at++) {
    clock.now += HOUR
    if ((await assess(GUESS, stranger(at))).action === 'allow') guesses++
    if (at % 48 === 0) t.equal((await assess(OWNER)).action, 'allow', 'the owner, meanwhile')
  }
  t.ok(guesses <= 310, `${guesses} of 720 in a month`)
})

t.test('nobody can lock an owner out', async (t) => {
  const { assess } = await openGuarded(t)
  await assess(OWNER)
  const actions = new Set<string>()
  // Strangers guess, and so does a person in the owner's network with the same browser.
  for (let at = 0; at < 400; at++) {
    for (const peer of [stranger(at), `8.1.${at & 255}.9`]) {
      for (const event of ['login', 'mfa', 'reset', 'email_change', 'payment', 'signup'] as const) {
        actions.add((await assess({ ...GUESS, event }, peer)).action)
      }
    }
  }
  t.same([...actions].sort(), ['allow', 'challenge'])
  for (const peer of [HOME, '9.9.9.9']) t.match(await assess(OWNER, peer), { action: /^(allow|challenge)$/ }, peer)
})

t.test('the owner of an alias of a mailbox is not known for its other ones', async (t) => {
  const { assess } = await openGuarded(t)
  const own = { identifier: 'a.da+shop@gmail.com' }
  const victim = { identifier: 'ada@gmail.com' }
  await assess({ ...own, ...SIGNUP }, '9.9.9.9')
  t.match(await assess(own, '9.9.9.9'), { account: { known: true } })
  t.match(await assess(victim, '9.9.9.9'), { account: { known: false } })
  for (let at = 0; at < 10; at++) await assess({ ...victim, outcome: 'failure' }, stranger(at))
  t.match(await assess({ ...own, outcome: 'failure' }, stranger(11)), { action: 'challenge' }, 'guesses count together')
})

t.test('sign-ups with spellings of one mailbox are challenged, and so are numbered mailboxes', async (t) => {
  const { assess } = await openGuarded(t)
  const numbered = (count: number, make: (at: number) => string) => Array.from({ length: count }, (_, at) => make(at))
  for (const [last, identifiers] of [
    ['account-aliases', ['ada+1@gmail.com', '"a.da+2"@gmail.com', 'ada(x)@googlemail.com', ' ADA@(x)gmail.com.']],
    ['account-aliases', ['a@bücher.example', 'a@BÜCHER.example', '"a"@xn--bcher-kva.example', 'a@bücher.example.']],
    ['account-aliases', numbered(4, (at) => `Ada ${at} <ada@named.example>`)],
    // A provider that documents no tags may have two users there.
    ['default', numbered(6, (at) => `ada+${at}@tagged.example`)],
    ['account-shared-stem', numbered(11, (at) => `ada.${at}@corp.example`)],
  ] as const) {
    const rules: string[] = []
    for (const [at, identifier] of identifiers.entries()) {
      rules.push((await assess({ ...SIGNUP, identifier }, stranger(at))).rule)
    }
    t.same(rules, [...Array(rules.length - 1).fill('default'), last], identifiers[0])
  }
  const by = { event: 'signup', identifier: 'name', mail: 'ada.99@corp.example' } as const
  t.match(await assess(by, stranger(99)), { rule: 'account-shared-stem' }, 'also beside another identifier')
})

const SHARED: Readonly<Record<string, (t: Test) => Promise<ConfigInput>>> = {
  'one folder': async () => ({ counting: { place: 'dataDir' } }),
  'one Redis': async (t) => ({ redis: (await startRedis(t)).url }),
}

for (const [name, config] of Object.entries(SHARED)) {
  const skip = name === 'one Redis' && NO_REDIS
  t.test(`guesses at the same time through two services with ${name} reveal no password`, { skip }, async (t) => {
    const challenge = { secret: SECRET }
    const shared = { ...(await config(t)), dataDir: await temporaryFolder(t), challenge, timeouts: { counting: '10s' } }
    const both = [await openGuarded(t, shared), await openGuarded(t, shared)]
    const guesses = Array.from({ length: 40 }, (_, at) => both[at % 2]?.assess(at === 39 ? OWNER : GUESS, stranger(at)))
    const actions = (await Promise.all(guesses)).map((answer) => answer?.action)
    t.equal(actions.filter((action) => action === 'allow').length, 10, 'each guess is counted')
    t.equal(actions[39], 'challenge', 'the right one')
    const after = await both[1]?.assess({ user: '17' }, stranger(39))
    t.match(after, { action: 'challenge', account: { known: false } }, 'and it makes nobody known')
    for (let at = 0; at < 60; at++) {
      const outcome = at % 3 === 0 ? 'failure' : 'success'
      const event = { user: `user ${at}`, identifier: `user-${at}@shop.example`, outcome } as const
      t.equal((await both[at % 2]?.assess(event, HOME))?.action, 'allow', 'of one address one attempt in three fails')
    }
    if (shared.redis === undefined) return
    await both[0]?.assess({ ...SIGNUP, identifier: 'bob@fresh.example' })
    const client = createClient({ url: shared.redis })
    await client.connect()
    t.teardown(() => client.close())
    // The machines share a secret and a seed for as long as they run.
    const keys = (await client.keys('*')).filter((key) => !/:(secret|seed)$/.test(key))
    t.ok(keys.length > 10)
    for (const key of keys) {
      const lasts = await client.pTTL(key)
      t.ok(lasts > 0 && lasts <= 90 * 24 * HOUR, `${key} ends in ${lasts} ms`)
    }
  })
}

t.test('a file of users that another program locks or spoils refuses nobody', async (t) => {
  const dataDir = await temporaryFolder(t)
  const { assess } = await openGuarded(t, { dataDir, timeouts: { counting: '200ms' } }, { onFault() {} })
  await assess(OWNER)
  const other = new DatabaseSync(join(dataDir, 'logins.db'))
  t.teardown(() => other.close())
  other.exec('BEGIN EXCLUSIVE')
  t.match(await assess({ user: '17' }), { action: 'allow', account: { known: true } }, 'reads go on')
  const first = { user: '18', outcome: 'success' } as const
  t.match(await assess(first), { action: 'allow' }, 'a login that is not written')
  other.exec('ROLLBACK')
  while ((await assess({ user: '18' })).account.known !== true) await assess(first)
  other.exec('DROP TABLE login')
  t.match(await assess(OWNER), { action: 'allow', account: {} })
  t.ok((await assess({ user: '17' })).degraded.includes('accounts'))
})

t.test('halves of a character are one name, as in all that is stored in UTF-8', async (t) => {
  const { assess } = await openGuarded(t)
  const guess = (identifier: string, at: number) => assess({ identifier, outcome: 'unknown_user' }, stranger(at))
  for (let at = 0; at < 10; at++) await guess(`ada${String.fromCharCode(0xd800 + at)}`, at)
  t.match(await guess('ada\udc00', 11), { action: 'challenge' })
  t.match(await guess('ada', 11), { action: 'allow' }, 'what another user has')
})

t.test('each member of an event is read once, at entry', async (t) => {
  const { sallyport, inspect } = await openGuarded(t)
  const request = inspect(HOME)
  const reads: string[] = []
  const members = { event: 'login', outcome: 'failure', user: '17', identifier: 'ada', mail: 'ada@x.example' } as const
  const event = new Proxy({} as AccountEvent, {
    get: (_, name) => {
      reads.push(String(name))
      return members[name as keyof typeof members]
    },
  })
  const asked = sallyport.accounts.assess(request, event)
  t.same([...reads].sort(), ['event', 'identifier', 'mail', 'outcome', 'user'], 'before anything is awaited')
  await asked
  t.equal(reads.length, 5)
  for (const bad of [undefined, null, 'login', []]) {
    await t.rejects(sallyport.accounts.assess(request, bad as never), { code: 'invalid_request' })
  }
})

/** Names of other accounts, written to break what reads them. */
const HOSTILE = [
  'x'.repeat(65_536),
  'ada\u0000@shop.example',
  '\udfff\ud800',
  '\u202egro.pohs@ada',
  '\u0430da@shop.example',
  '__proto__',
  "' OR 1=1 --",
  '\ufdfa'.repeat(3_000),
  `${'('.repeat(10_000)}@a.b`,
]

t.test('hostile names are names: no fault, no other account, no slow one', async (t) => {
  const { assess } = await openGuarded(t)
  await assess(OWNER)
  const began = performance.now()
  for (const [at, text] of HOSTILE.entries()) {
    for (const event of ['login', 'signup'] as const) {
      const answer = await assess({ event, identifier: text, mail: text, outcome: 'failure' }, stranger(at))
      t.equal(answer.account.known, false)
      t.notOk(answer.degraded.includes('accounts'), JSON.stringify(text.slice(0, 20)))
    }
    await assess({ user: text, outcome: 'failure' }, stranger(at))
  }
  t.ok(performance.now() - began < 60_000)
  t.match(await assess({ user: '17' }), { account: { known: true } })
})

t.test('what is no text is no name, whatever it answers, and no size of one is worked on', async (t) => {
  const { assess } = await openGuarded(t)
  let reads = 0
  const trap = {
    get length() {
      reads++
      return 3
    },
    trim: () => 'ada',
    toString: () => 'ada',
  }
  const refused = { code: 'invalid_request' }
  for (const name of ['user', 'identifier', 'mail'] as const) {
    for (const bad of ['', 'x'.repeat(10 * 2 ** 20), trap, new String('ada'), ['ada'], 17, null, Symbol('ada')]) {
      await t.rejects(assess({ [name]: bad } as Partial<AccountEvent>), refused)
    }
  }
  t.equal(reads, 0)
  for (const bad of [trap, null, Symbol('login'), '__proto__', 'loggin']) {
    await t.rejects(assess({ event: bad } as object), refused)
    await t.rejects(assess({ outcome: bad } as object), refused)
  }
  await t.rejects(assess({ identifier: undefined }), refused, 'neither a user nor an identifier')
})

t.test('a store that is away degrades, locks nobody out and comes back', async (t) => {
  const startShared = {
    Redis: async (t: Test) => {
      const server = await startRedis(t)
      return { server, config: { redis: server.url } }
    },
    PostgreSQL: async (t: Test) => {
      const server = await startPostgres(t)
      return { server, config: { store: await server.database() } }
    },
  }
  for (const [name, start] of Object.entries(startShared)) {
    t.test(name, { skip: name === 'Redis' ? NO_REDIS : NO_POSTGRES }, async (t) => {
      const { server, config } = await start(t)
      const shared = { ...config, challenge: { secret: SECRET }, timeouts: { counting: '1s' } }
      const { assess } = await openGuarded(t, shared, { onFault() {} })
      await assess(OWNER)
      while ((await assess({ user: '17' })).degraded.includes('accounts')) await delay(50)
      await server.stop()
      for (let at = 0; at < 12; at++) t.match(await assess(OWNER), { action: /^(allow|challenge)$/ }, 'the owner')
      const away = await assess({ ...OWNER, event: 'payment' })
      t.ok(away.degraded.includes('accounts'), 'and it says so')
      t.same(away.account, {}, 'what is not known is not said')
      const actions: string[] = []
      for (let at = 0; at < 14; at++) actions.push((await assess(GUESS, stranger(at))).action)
      t.same(actions.slice(-2), ['challenge', 'challenge'], 'guesses are counted by this process')
      await server.restart()
      // A Redis that keeps nothing has forgotten the owner, who is challenged until the counts of the outage end.
      let back = await assess(OWNER)
      for (; !back.account.known; back = await assess(OWNER)) {
        t.match(back.action, name === 'Redis' ? /^(allow|challenge)$/ : 'allow')
        await delay(100)
      }
      t.equal(back.action, 'allow')
    })
  }
})
