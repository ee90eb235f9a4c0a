import t from 'tap'
import { createBoundedStore } from '../../../src/features/logins/bounded-store.ts'
import { createUsers } from '../../../src/features/logins/users.ts'

const SIGHTING = { at: Date.now(), network: 'AS1', country: 'DE', browser: 'Firefox Linux' }

/** A store in memory whose text of each user is given. */
function makeStore(text: string) {
  const kept = new Map([['ada', text]])
  const replace = async (key: string, before: string | undefined, next: string) => {
    if (kept.get(key) !== before) return false
    kept.set(key, next)
    return true
  }
  return { kept, read: async (key: string) => kept.get(key), replace }
}

t.test('a text that is no memory keeps nobody out, and the next login replaces it', async (t) => {
  for (const text of ['', 'null', '[]', '{"networks":[]}', '{"networks":{},"countries":[],"browsers":[]}', '\u0000']) {
    const store = makeStore(text)
    const users = createUsers(store)
    const read = await users.read('ada')
    t.match(read, { isAway: false, text }, JSON.stringify(text))
    t.equal(read.memory, undefined)
    await users.remember(read, SIGHTING)
    t.match((await users.read('ada')).memory, { networks: [['AS1']] })
  }
})

t.test('a pause of this process is no outage of the store', async (t) => {
  const faults: unknown[] = []
  const turn = () => new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))
  const store = { read: async () => undefined, replace: turn, erase: turn, close: async () => {} }
  const { replace } = createBoundedStore(store, 5, (error) => void faults.push(error))
  // Behind this turn timers come first.
  await turn()
  const written = replace('ada', undefined, 'x', 1)
  for (const end = performance.now() + 30; performance.now() < end; );
  t.equal(await written, true)
  const never = { ...store, replace: () => new Promise<boolean>(() => {}) }
  const silent = createBoundedStore(never, 5, (error) => void faults.push(error))
  await t.rejects(silent.replace('ada', undefined, 'x', 1), /did not respond within 5 ms/)
  t.equal(faults.length, 1)
})

t.test('every outage of a store is reported once, when it begins', async (t) => {
  const faults: unknown[] = []
  let isUp = false
  const answer = async () => {
    if (!isUp) throw new Error('away')
    return true
  }
  const made = { read: async () => String(await answer()), replace: answer, erase: answer, close: async () => {} }
  const { read, replace, erase } = createBoundedStore(made, 60_000, (error) => void faults.push(error))
  for (const outage of [1, 2]) {
    isUp = false
    const asks: ((key: string) => Promise<unknown>)[] = [read, erase, (key) => replace(key, undefined, 'x', 1)]
    for (const ask of asks) {
      await t.rejects(ask('ada'), /away/)
      t.equal(faults.length, outage)
    }
    isUp = true
    t.equal(await read('ada'), 'true')
  }
})

t.test('a store that did not answer makes its user away, and nothing is written over its memory', async (t) => {
  const store = makeStore('{"networks":[["AS2",1,1]],"countries":[],"browsers":[]}')
  const away = createUsers({ ...store, read: () => Promise.reject(new Error('away')) })
  const user = await away.read('ada')
  t.match(user, { isAway: true })
  await createUsers(store).remember(user, SIGHTING)
  t.match(store.kept.get('ada'), /AS2/)
})
