import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { createClient } from '@redis/client'
import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import type { ConfigInput } from '../../../src/config/service/index.ts'
import type { Assessment } from '../../../src/features/logins/assess.ts'
import type { AccountEvent } from '../../../src/features/logins/read-event.ts'
import { open } from '../../../src/open/index.ts'
import type { OpenHooks } from '../../../src/service/hooks.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'
import { temporaryFolder } from '../../stores/processes.ts'

const FIELDS = ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Firefox/150.0']
const HOME = '8.1.0.1'
const SECRET = 'a secret of more than thirty-two characters'
const HOUR = 3_600_000
const OWNER = { user: '17', identifier: 'ada@shop.example' } as const

async function opened(t: Test, more: ConfigInput = {}, hooks: OpenHooks = {}) {
  const policy: ConfigInput['policy'] = { preset: 'observe', limits: ['account-guard'] }
  const sallyport = await open({ ...madeConfig(t.testdir()), policy, ...more }, { onNotice() {}, ...hooks })
  t.teardown(() => sallyport.close())
  const inspect = (peer: string) => {
    const decision = sallyport.decide({ ...requestFrom(peer, FIELDS), method: 'POST', target: '/login' })
    return { sallyport: decision, rawHeaders: FIELDS }
  }
  const assess = (event: Partial<AccountEvent>, peer = HOME): Promise<Assessment> =>
    sallyport.accounts.assess(inspect(peer), { event: 'login', ...OWNER, ...event })
  return { sallyport, assess, inspect }
}

/** Returns an address of another system for each number. */
const stranger = (at: number) => `${11 + (at % 80)}.${(at >> 8) & 255}.${at & 255}.9`

t.test('slow guesses from other addresses, one an hour for a month', async (t) => {
  const clock = { now: Date.now() }
  const { assess } = await opened(t, {}, { clock: { now: () => clock.now } })
  await assess({ outcome: 'success' })
  let guesses = 0
  for (let at = 0; at < 30 * 24; at++) {
    clock.now += HOUR
    if ((await assess({ outcome: 'failure' }, stranger(at))).action === 'allow') guesses++
    if (at % 48 === 0) t.equal((await assess({ outcome: 'success' })).action, 'allow', 'the owner, meanwhile')
  }
  t.ok(guesses <= 310, `${guesses} of 720 in a month`)
})

t.test('a clock that jumps gives few guesses more, forgets no owner and accuses nobody', async (t) => {
  const clock = { now: Date.now() }
  const start = clock.now
  const { assess } = await opened(t, {}, { clock: { now: () => clock.now } })
  await assess({ outcome: 'success' })
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, stranger(at))
  t.equal((await assess({}, stranger(11))).action, 'challenge')
  let guesses = 0
  for (const jump of [-HOUR, -20 * HOUR, -1_000, 60_000, -400 * 24 * HOUR, HOUR]) {
    clock.now = start + jump
    for (let at = 0; at < 40; at++) {
      if ((await assess({ outcome: 'failure' }, stranger(at))).action === 'allow') guesses++
    }
    t.match(
      await assess({ outcome: 'success' }),
      { action: 'allow', account: { known: true, travel: false } },
      `${jump} ms`,
    )
  }
  // A count begins again where the clock is more than a day back, and ends where it is a window ahead.
  t.ok(guesses <= 40, `${guesses} guesses of 240`)
})

t.test('an account that is there costs the same questions as one that is not', async (t) => {
  const seen: ObservedRequest[] = []
  const { sallyport, assess } = await opened(t, {}, { observe: (observed) => void seen.push(observed) })
  await assess({ outcome: 'success' })
  for (const event of ['login', 'reset', 'mfa'] as const) {
    await assess({ event, outcome: 'failure' }, stranger(1))
    await assess({ event, user: undefined, identifier: 'nobody@shop.example', outcome: 'unknown_user' }, stranger(2))
  }
  sallyport.drain()
  const counted = seen.slice(1).map(({ decision }) => decision?.limits?.map(({ rule }) => rule))
  t.equal(counted.length, 6)
  for (const at of [0, 2, 4]) t.same(counted[at], counted[at + 1], 'the same counts')
  t.ok((counted[0]?.length ?? 0) >= 8)
})

t.test('nobody can lock an owner out', async (t) => {
  const { assess } = await opened(t)
  await assess({ outcome: 'success' })
  const actions = new Set<string>()
  // Strangers guess, and so does a person in the owner's network with the same browser.
  for (let at = 0; at < 400; at++) {
    for (const peer of [stranger(at), `8.1.${at & 255}.9`]) {
      for (const event of ['login', 'mfa', 'reset', 'email_change', 'payment', 'signup'] as const) {
        actions.add((await assess({ event, outcome: 'failure' }, peer)).action)
      }
    }
  }
  t.same([...actions].sort(), ['allow', 'challenge'])
  for (const [peer, name] of [
    [HOME, 'at home'],
    ['9.9.9.9', 'elsewhere'],
  ] as const) {
    t.match((await assess({ outcome: 'success' }, peer)).action, /^(allow|challenge)$/, name)
  }
})

t.test('the owner of an alias of a mailbox is not known for its other ones', async (t) => {
  const { assess } = await opened(t)
  const own = { user: undefined, identifier: 'a.da+shop@gmail.com' } as const
  const victim = { user: undefined, identifier: 'ada@gmail.com' } as const
  await assess({ ...own, event: 'signup', outcome: 'success' }, '9.9.9.9')
  t.match(await assess(own, '9.9.9.9'), { account: { known: true } })
  t.match(await assess(victim, '9.9.9.9'), { account: { known: false } })
  for (let at = 0; at < 10; at++) await assess({ ...victim, outcome: 'failure' }, stranger(at))
  t.match(await assess({ ...own, outcome: 'failure' }, stranger(11)), { action: 'challenge' }, 'guesses count together')
})

t.test('sign-ups with spellings of one mailbox are challenged from the fourth on', async (t) => {
  const { assess } = await opened(t)
  const mailboxes = {
    'ada@gmail.com': ['ada+1@gmail.com', '"a.da+2"@gmail.com', 'ada(a comment)@googlemail.com', ' ADA@(x)gmail.com.'],
    'ada@fastmail.com': ['1@ada.fastmail.com', '2@ada.fastmail.com', 'ada+3@fastmail.com', '"ada"@fastmail.com'],
    'ada@bücher.example': [
      'ada@bücher.example',
      'ada@BÜCHER.example',
      '"ada"@xn--bcher-kva.example',
      'ada@bücher.example.',
    ],
  }
  for (const [mailbox, spellings] of Object.entries(mailboxes)) {
    const actions: string[] = []
    for (const [at, identifier] of spellings.entries()) {
      actions.push(
        (await assess({ event: 'signup', user: undefined, identifier, outcome: 'success' }, stranger(at))).action,
      )
    }
    t.same(actions, ['allow', 'allow', 'allow', 'challenge'], mailbox)
  }
  // A provider that documents no tags may have two users there.
  for (let at = 0; at < 6; at++) {
    const identifier = `ada+${at}@corp.example`
    t.match(await assess({ event: 'signup', user: undefined, identifier, outcome: 'success' }, stranger(at)), {
      action: 'allow',
    })
  }
})

t.test('guesses at the same time reveal no password', async (t) => {
  const { assess } = await opened(t)
  const guesses = Array.from({ length: 40 }, (_, at) =>
    assess({ outcome: at === 39 ? 'success' : 'failure' }, stranger(at)),
  )
  const actions = (await Promise.all(guesses)).map(({ action }) => action)
  t.equal(actions.filter((action) => action === 'allow').length, 10)
  t.equal(actions[39], 'challenge', 'the right one')
})

const SHARED: Readonly<
  Record<string, { readonly skip: string | false; config(t: Test): Promise<Pick<ConfigInput, 'counting' | 'redis'>> }>
> = {
  'one folder': { skip: false, config: async () => ({ counting: { place: 'dataDir' } }) },
  'one Redis': { skip: NO_REDIS, config: async (t) => ({ redis: (await startRedis(t)).url }) },
}

for (const [name, { skip, config }] of Object.entries(SHARED)) {
  t.test(`guesses at the same time through two services with ${name}`, { skip }, async (t) => {
    const challenge = { secret: SECRET }
    const shared = { ...(await config(t)), dataDir: await temporaryFolder(t), challenge, timeouts: { counting: '10s' } }
    const both = [await opened(t, shared), await opened(t, shared)]
    const guesses = Array.from({ length: 40 }, (_, at) => both[at % 2]?.assess({ outcome: 'failure' }, stranger(at)))
    const actions = (await Promise.all(guesses)).map((answer) => answer?.action)
    t.equal(actions.filter((action) => action === 'allow').length, 10, 'each guess is counted')
    t.equal((await both[1]?.assess({}, stranger(50)))?.action, 'challenge')
    for (let at = 0; at < 60; at++) {
      const outcome = at % 3 === 0 ? 'failure' : 'success'
      const event = { user: `user ${at}`, identifier: `user-${at}@shop.example`, outcome } as const
      t.equal((await both[at % 2]?.assess(event, HOME))?.action, 'allow', 'of one address one attempt in three fails')
    }
    if (shared.redis === undefined) return
    await both[0]?.assess({ event: 'signup', identifier: 'bob@fresh.example', outcome: 'success' })
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
  const { assess } = await opened(t, { dataDir, timeouts: { counting: '200ms' } }, { onFault() {} })
  await assess({ outcome: 'success' })
  const other = new DatabaseSync(join(dataDir, 'logins.db'))
  t.teardown(() => other.close())
  other.exec('BEGIN EXCLUSIVE')
  t.match(await assess({}), { action: 'allow', account: { known: true } }, 'reads go on')
  const first = { user: '18', outcome: 'success' } as const
  t.match(await assess(first), { action: 'allow' }, 'a login that is not written')
  other.exec('ROLLBACK')
  while ((await assess({ user: '18' })).account.known !== true) await assess(first)
  other.exec('DROP TABLE login')
  t.match(await assess({ outcome: 'success' }), { action: 'allow', account: {} })
  t.ok((await assess({})).degraded.includes('accounts'))
})

t.test('names that look alike are counted apart, and spellings of one name together', async (t) => {
  const { assess } = await opened(t)
  const guess = (identifier: string, at: number) =>
    assess({ user: undefined, identifier, outcome: 'unknown_user' }, stranger(at))
  const spellings = ['\u00e9lan\u{1f600}', 'e\u0301lan\u{1f600}', ' E\u0301LAN\u{1f600}', '\uff45\u0301lan\u{1f600}']
  for (let at = 0; at < 10; at++) await guess(spellings[at % spellings.length] as string, at)
  for (const [at, spelling] of spellings.entries()) t.match(await guess(spelling, 20 + at), { action: 'challenge' })
  // Another alphabet, another emoji, half of one and none make other names.
  for (const [at, other] of ['\u0451lan\u{1f600}', '\u00e9lan\u{1f601}', '\u00e9lan\ud83d', '\u00e9lan'].entries()) {
    t.match(await guess(other, 40 + at), { action: 'allow' }, JSON.stringify(other))
  }
})

const HOSTILE = [
  'x'.repeat(65_536),
  'ada\u0000@shop.example',
  '\ud800',
  '\udfff\ud800',
  '\u202egro.pohs@ada',
  'ada\u200b@shop.example',
  'аda@shop.example',
  'ada@shop.example\r\nX: y',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '\u{1f469}\u200d\u{1f4bb}',
  "' OR 1=1 --",
  '\ufdfa'.repeat(3_000),
  `${'('.repeat(10_000)}@a.b`,
]

t.test('each member of an event is read once, at entry', async (t) => {
  const { sallyport, inspect } = await opened(t)
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

t.test('an address behind a name is an address', async (t) => {
  const { assess } = await opened(t)
  const signup = { event: 'signup', user: undefined, outcome: 'success' } as const
  for (let at = 0; at < 3; at++) await assess({ ...signup, identifier: `Ada ${at} <ada@corp.example>` }, stranger(at))
  t.match(await assess({ ...signup, identifier: 'ada@corp.example' }, stranger(4)), { rule: 'account-aliases' })
  const fresh = { ...signup, identifier: 'Eve <eve@fresh.example>' }
  t.match(await assess(fresh, stranger(5)), { mail: { newDomain: true } })
})

t.test('sign-ups with numbered mailboxes are challenged from the eleventh on', async (t) => {
  const { assess } = await opened(t)
  const actions: string[] = []
  for (let at = 0; at < 12; at++) {
    const event = {
      event: 'signup',
      user: undefined,
      identifier: `ada.${at}@corp.example`,
      outcome: 'success',
    } as const
    actions.push((await assess(event, stranger(at))).rule)
  }
  t.same(actions.slice(9), ['default', 'account-shared-stem', 'account-shared-stem'])
  const by = { event: 'signup', user: undefined, identifier: 'name', mail: 'ada.99@corp.example' } as const
  t.match(await assess(by, stranger(99)), { rule: 'account-shared-stem' }, 'also beside another identifier')
})

t.test('hostile names are names: no fault, no other account, no slow one', async (t) => {
  const { assess } = await opened(t)
  await assess({ outcome: 'success' })
  const began = performance.now()
  for (const [at, text] of HOSTILE.entries()) {
    for (const event of ['login', 'signup'] as const) {
      const answer = await assess(
        { event, user: undefined, identifier: text, mail: text, outcome: 'failure' },
        stranger(at),
      )
      t.equal(answer.account.known, false)
      t.same(
        answer.degraded.filter((word) => word === 'accounts'),
        [],
        JSON.stringify(text.slice(0, 20)),
      )
    }
    await assess({ user: text, outcome: 'failure' }, stranger(at))
  }
  t.ok(performance.now() - began < 60_000)
  t.match(await assess({}), { account: { known: true } })
})

t.test('what is no text is no name, whatever it answers, and no size of one is worked on', async (t) => {
  const { assess } = await opened(t)
  const huge = 'x'.repeat(10 * 2 ** 20)
  let reads = 0
  const trap = {
    get length() {
      reads++
      return 3
    },
    trim: () => 'ada',
    toString: () => 'ada',
  }
  for (const name of ['user', 'identifier', 'mail'] as const) {
    for (const bad of [huge, trap, new String('ada'), ['ada'], 17, true, null, Symbol('ada')]) {
      await t.rejects(assess({ [name]: bad } as Partial<AccountEvent>), { code: 'invalid_request' })
    }
  }
  t.equal(reads, 0)
  for (const bad of [trap, null, Symbol('login'), '__proto__']) {
    await t.rejects(assess({ event: bad } as object), { code: 'invalid_request' })
    await t.rejects(assess({ outcome: bad } as object), { code: 'invalid_request' })
  }
  // Halves of a character are one, as in all that is stored in UTF-8, and none is what another user has.
  for (let at = 0; at < 10; at++)
    await assess(
      { user: undefined, identifier: `ada${String.fromCharCode(0xd800 + at)}`, outcome: 'failure' },
      stranger(at),
    )
  t.match(await assess({ user: undefined, identifier: 'ada\udc00' }, stranger(11)), { action: 'challenge' })
  t.match(await assess({ user: undefined, identifier: 'ada' }, stranger(11)), { action: 'allow' })
})

t.test('a store that is away degrades, locks nobody out and comes back', async (t) => {
  const stores = {
    Redis: {
      skip: NO_REDIS,
      start: async (t: Test) => {
        const server = await startRedis(t)
        return { server, config: { redis: server.url } }
      },
    },
    PostgreSQL: {
      skip: NO_POSTGRES,
      start: async (t: Test) => {
        const server = await startPostgres(t)
        return { server, config: { store: await server.database() } }
      },
    },
  }
  for (const [name, { skip, start }] of Object.entries(stores)) {
    t.test(name, { skip }, async (t) => {
      const { server, config } = await start(t)
      const shared = { ...config, challenge: { secret: SECRET }, timeouts: { counting: '1s' } }
      const { assess } = await opened(t, shared, { onFault() {} })
      await assess({ outcome: 'success' })
      while ((await assess({})).degraded.includes('accounts')) await delay(50)
      await server.stop()
      for (let at = 0; at < 12; at++) {
        t.match(await assess({ outcome: 'success' }), { action: /^(allow|challenge)$/ }, 'the owner')
      }
      const away = await assess({ event: 'payment', outcome: 'success' })
      t.ok(away.degraded.includes('accounts'), 'and it says so')
      t.same(away.account, {})
      const actions: string[] = []
      for (let at = 0; at < 14; at++) actions.push((await assess({ outcome: 'failure' }, stranger(at))).action)
      t.same(actions.slice(-2), ['challenge', 'challenge'], 'guesses are counted by this process')
      await server.restart()
      // A Redis that keeps nothing has forgotten the owner, who is challenged until the counts of the outage end.
      let back = await assess({ outcome: 'success' })
      for (; !back.account.known; back = await assess({ outcome: 'success' })) {
        t.match(back.action, name === 'Redis' ? /^(allow|challenge)$/ : 'allow')
        await delay(100)
      }
      t.equal(back.action, 'allow')
    })
  }
})
