import t from 'tap'
import { createFakeCounts } from '../src/testing/fakes.ts'
import { askedFor, FIREFOX, HOME, makeRequest, solve, type World, world } from './challenge-world.ts'

const SENDER = { host: 'shop.example:8443', userAgent: FIREFOX }
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

function earn({ challenges }: World, action = 'contact', level: 1 | 2 | 3 = 1): string {
  const { challenge, ...work } = challenges.forms.issue(SENDER, action, level)
  return solve({ text: challenge, ...work })
}

t.test('a token is taken once, by one of all machines that share counts', async (t) => {
  const one = world()
  const counts = createFakeCounts(one.clock)
  const machines = [world({ counts }), world({ counts })] as const
  const token = earn(machines[0], 'contact', 2)
  t.same(await machines[1].challenges.forms.check(SENDER, token, 'contact'), { ok: true, level: 2 })
  t.same(await machines[0].challenges.forms.check(SENDER, token, 'contact'), { ok: false, reason: 'spent' })
  const [first, second] = [earn(machines[0]), earn(machines[0])]
  const all = [first, second, first, second].map((brought, at) =>
    machines[at % 2 === 0 ? 0 : 1].challenges.forms.check(SENDER, brought, 'contact'),
  )
  t.equal((await Promise.all(all)).filter(({ ok }) => ok).length, 2, 'also where they come at one time')
})

t.test('a token is bound to host, action and browser', async (t) => {
  const here = world()
  for (const [sender, action, reason] of [
    [{ ...SENDER, host: 'other.example' }, 'contact', 'forged'],
    [SENDER, 'login', 'forged'],
    [{ ...SENDER, userAgent: CHROME }, 'contact', 'other_browser'],
    [{ ...SENDER, userAgent: 'curl/8.9' }, 'contact', 'other_browser'],
  ] as const)
    t.same(await here.challenges.forms.check(sender, earn(here), action), { ok: false, reason })
  const updated = { host: 'SHOP.example', userAgent: FIREFOX.replaceAll('153', '154') }
  t.match(await here.challenges.forms.check(updated, earn(here), 'contact'), { ok: true }, 'a newer version')
})

t.test('a token can be used for five minutes', async (t) => {
  const here = world()
  const [early, late] = [earn(here), earn(here)]
  here.clock.time += 299_000
  t.match(await here.challenges.forms.check(SENDER, early, 'contact'), { ok: true })
  here.clock.time += 2_000
  t.same(await here.challenges.forms.check(SENDER, late, 'contact'), { ok: false, reason: 'expired' })
})

t.test('a page and a form take nothing of each other', async (t) => {
  const here = world()
  const page = here.challenges.issue(makeRequest(), askedFor(2))
  t.same(await here.challenges.forms.check(SENDER, solve(page), 'contact'), { ok: false, reason: 'forged' })
  t.match(await here.challenges.redeem(makeRequest(), earn(here), HOME), { refused: 'forged' })
  const named = makeRequest({ host: 'shop.example form contact' })
  t.match(await here.challenges.redeem(named, earn(here), HOME), { refused: 'forged' })
})

t.test('what is no solution is refused, and a wrong one uses up its challenge', async (t) => {
  const here = world()
  const token = earn(here)
  const [sealed = ''] = token.split('.')
  for (const brought of ['x', `${sealed}.`, `${sealed}.1,x`, `${sealed}.${'1,'.repeat(600)}1`, 'a'.repeat(5_000), 7])
    t.same(await here.challenges.forms.check(SENDER, brought, 'contact'), { ok: false, reason: 'malformed' })
  for (const brought of ['', undefined, null])
    t.same(await here.challenges.forms.check(SENDER, brought, 'contact'), { ok: false, reason: 'missing' })
  const wrong = `${sealed}.${Array.from({ length: 32 }, () => 4_294_967_295).join(',')}`
  t.same(await here.challenges.forms.check(SENDER, wrong, 'contact'), { ok: false, reason: 'wrong' })
  t.same(await here.challenges.forms.check(SENDER, token, 'contact'), { ok: false, reason: 'spent' })
})

t.test('counts that do not answer degrade the result, or fail it, and say so', async (t) => {
  const faults: unknown[] = []
  const fake = createFakeCounts(world().clock)
  const local = world({ counts: { ...fake, take: async (...of) => ({ ...(await fake.take(...of)), share: 0.5 }) } })
  t.same(await local.challenges.forms.check(SENDER, earn(local), 'contact'), { ok: true, level: 1, degraded: true })
  const take = () => Promise.reject(new Error('away'))
  const away = world({ counts: { ...fake, take }, onFault: (fault) => faults.push(fault) })
  t.same(await away.challenges.forms.check(SENDER, earn(away), 'contact'), { ok: false, reason: 'failed' })
  t.match(faults, [{ message: 'away' }])
})
