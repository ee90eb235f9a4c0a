import { createHmac, hkdfSync } from 'node:crypto'
import t from 'tap'
import { type ChallengeSecret, createChallengeSecrets, type Mac } from '../src/challenge/secrets.ts'
import { compilePolicy, createInspector, parseAddress, parseTrust, type Rule } from '../src/index.ts'
import { askedFor, HOME, makeRequest, readPass, SECRET, solve, world } from './challenge-world.ts'

const FROM = parseAddress(HOME.address)

function countWork(texts: readonly string[] = [SECRET]) {
  let macs = 0
  const count = (mac: Mac): Mac => {
    return (fields, host) => {
      macs++
      return mac(fields, host)
    }
  }
  const countSecret = ({ id, passMac, epochMac }: ChallengeSecret): ChallengeSecret => {
    return { id, passMac: count(passMac), epochMac: (epoch) => count(epochMac(epoch)) }
  }
  const [maker, ...others] = createChallengeSecrets(texts)
  const secrets = [countSecret(maker), ...others.map(countSecret)] as const
  const { clock, challenges } = world({ secrets })
  /** Counts the MACs that `work` computes. */
  async function countMacs(work: () => unknown): Promise<number> {
    const before = macs
    await work()
    return macs - before
  }
  async function givenPass(): Promise<string> {
    const issued = challenges.issue(makeRequest(), askedFor(1), true)
    clock.time += 1_000
    const request = makeRequest({ cookie: `sallyport-challenge=${issued.text}` })
    return readPass(await challenges.redeemWaited(request, askedFor(1), HOME))
  }
  const read = (cookie?: string, more: Parameters<typeof makeRequest>[0] = {}) =>
    challenges.findPass(makeRequest({ cookie, ...more }), HOME.network, clock.now(), FROM)
  return { clock, challenges, countMacs, givenPass, read }
}

t.test('a MAC is HMAC-SHA-256 over the fields, the length of the host and the host', async (t) => {
  const [secret] = createChallengeSecrets([SECRET])
  const key = Buffer.from(hkdfSync('sha256', SECRET, 'sallyport challenge', 'pass', 32))
  for (const host of ['', 'bücher.example', 'x'.repeat(255)]) {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(Buffer.byteLength(host))
    for (const size of [0, 23, 64, 200]) {
      const fields = Buffer.alloc(size, size)
      const expected = createHmac('sha256', key).update(fields).update(length).update(host).digest('hex')
      t.equal(secret?.passMac(fields, host).toString('hex'), expected, `${host.length} and ${size}`)
    }
  }
})

t.test('a pass costs one MAC where it is seen first, and none where it is remembered', async (t) => {
  const { countMacs, givenPass, read, clock } = countWork()
  const pass = await givenPass()
  const cookie = `a=b; __Host-sallyport=${pass}`
  t.equal(await countMacs(() => t.match(read(cookie), { level: 1 })), 1)
  for (let call = 0; call < 100; call++) {
    clock.time += 1_000
    t.equal(await countMacs(() => t.match(read(`${cookie}; n=${call}`), { level: 1, age: call + 1 })), 0)
  }
  t.equal(await countMacs(() => read(cookie, { host: 'other.example' })), 1, 'of another host it is another one')
  t.equal(await countMacs(() => t.equal(read(cookie, { userAgent: 'curl/8' }), undefined)), 1)
})

t.test('two passes of one address are remembered both, and two live secrets are no two MACs', async (t) => {
  const { countMacs, givenPass, read } = countWork([SECRET, 'the secret of before, which is also long'])
  const cookies = [`sallyport=${await givenPass()}`, `sallyport=${await givenPass()}`]
  for (const cookie of cookies) t.equal(await countMacs(() => read(cookie)), 1)
  for (let call = 0; call < 10; call++) t.equal(await countMacs(() => cookies.map((cookie) => read(cookie))), 0)
})

t.test('of many cookies four are looked at, and forged ones are remembered as well', async (t) => {
  const { countMacs, givenPass, read } = countWork()
  const pass = Buffer.from(await givenPass(), 'base64url')
  const forgePass = (number: number): string => {
    const bytes = Buffer.from(pass)
    bytes.writeUInt32BE(number, 11)
    return `sallyport=${bytes.toString('base64url')}`
  }
  const line = (from: number, count: number): string =>
    Array.from({ length: count }, (_, at) => forgePass(from + at)).join('; ')
  for (const count of [1, 2, 3, 4]) t.equal(await countMacs(() => read(line(count * 100, count))), count)
  t.equal(await countMacs(() => read(line(1_000, 250))), 4)
  t.equal(await countMacs(() => read(line(1_000, 250))), 0)
  for (const other of ['x', 'x'.repeat(51), 'x'.repeat(53), 'x'.repeat(16_000), '*'.repeat(52), `${'A'.repeat(51)}=`])
    t.equal(await countMacs(() => read(`sallyport=${other}`)), 0, other.slice(0, 60))
  t.equal(await countMacs(() => read('sallyport='.repeat(1_600))), 0)
})

t.test('a question costs one MAC, and its solution one for it and one for the pass', async (t) => {
  const { challenges, countMacs } = countWork()
  const issued = challenges.issue(makeRequest(), askedFor(2))
  t.equal(await countMacs(() => challenges.issue(makeRequest(), askedFor(2))), 1)
  const solution = solve(issued)
  const redeem = (text: string) => challenges.redeem(makeRequest(), text, HOME)
  t.equal(await countMacs(() => redeem(`${issued.text}.${'1,'.repeat(31)}1`)), 1, 'wrong')
  t.equal(await countMacs(() => redeem(solution)), 2)
  t.equal(await countMacs(() => redeem(solution)), 1, 'spent')
  for (const text of ['', 'x', `${'A'.repeat(96)}.1`, `${issued.text}x.1`])
    t.equal(await countMacs(() => redeem(text)), 0)
})

t.test('a request without a pass costs none, and one that is not asked has no question made', async (t) => {
  const { challenges, countMacs, clock, givenPass } = countWork()
  const rules: readonly Rule[] = [{ id: 'ask', match: { path: ['/asked'] }, action: 'challenge' }]
  const inspector = createInspector({
    clock,
    snapshots: { current: () => ({ rangesLoaded: false, proxiesLoaded: false, sources: [] }) },
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode: 'enforce',
    findPass: challenges.findPass,
  })
  const decide = (target: string, cookie?: string) => inspector.decide({ ...makeRequest({ cookie }), target })
  const asked = ['/asked', '/other']
  for (const target of asked) {
    for (const cookie of [undefined, 'a=b', 'sallyport=', 'sallyport-challenge=x'])
      t.equal(await countMacs(() => decide(target, cookie)), 0, `${target} ${cookie}`)
  }
  const cookie = `sallyport=${await givenPass()}`
  t.equal(await countMacs(() => decide('/other', cookie)), 1)
  for (const target of asked) t.equal(await countMacs(() => decide(target, cookie)), 0, target)
})
