import t from 'tap'
import { createKey, createMemoryAccounts, KEY_BYTES } from '#accounts'
import { createKeyReader } from '../../src/api/credentials.ts'
import { createWire } from './wire.ts'

const MAX_KEYS = 10_000

function keyText(number: number): string {
  const bytes = new Uint8Array(KEY_BYTES)
  new DataView(bytes.buffer).setUint32(4, number + 1)
  return createKey(bytes).text
}

const bearerFields = (text: string) => ['Authorization', `Bearer ${text}`]

t.test('a key is kept by a secret hash once it was found valid, without its text', async (t) => {
  const reader = createKeyReader()
  const text = keyText(1)
  const read = () => reader.read(bearerFields(text))
  const key = read()
  if (key === undefined) throw new Error('not read')
  t.match(key, { id: text.slice(3, 11), isKept: false })
  t.not(read(), key, 'a key that was not found valid is read again')
  reader.keep(key)
  const kept = read()
  t.same(kept, { ...key, isKept: true })
  t.equal(read(), kept)
  const secret = text.slice(12)
  for (let at = 0; at + 8 <= secret.length; at++) t.notOk(JSON.stringify(kept).includes(secret.slice(at, at + 8)))
  t.not(createKeyReader().read(bearerFields(text))?.fingerprint, key.fingerprint, 'another process has another secret')
  for (const other of [keyText(2), `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`, `${text}0`])
    t.not(reader.read(bearerFields(other))?.isKept, true, other)
  reader.drop(key)
  t.match(read(), { isKept: false })
})

t.test('so many are kept, those that came last', async (t) => {
  const reader = createKeyReader()
  const isKept = (number: number) => reader.read(bearerFields(keyText(number)))?.isKept
  for (let number = 0; number <= MAX_KEYS; number++) {
    const key = reader.read(bearerFields(keyText(number)))
    if (key !== undefined) reader.keep(key)
  }
  t.same([0, 1, MAX_KEYS].map(isKept), [false, true, true])
})

t.test('the store says of each call whether a kept key is valid, and what its plan is', async (t) => {
  const accounts = createMemoryAccounts()
  const wire = createWire({ services: { accounts } })
  const { text: key, record } = createKey(new Uint8Array(KEY_BYTES))
  const account = { id: 'one', name: '', plan: 'free', signupDate: '2026-01-31' } as const
  await accounts.createAccount(account)
  await accounts.createKey({ ...record, accountId: account.id, createdAt: '2026-01-31T00:00:00Z' })
  const call = () => wire.call('GET', '/v1/vpn/11.0.0.1', { key })
  for (let time = 0; time < 2; time++) t.match(await call(), { status: 200, headers: { 'X-RateLimit-Limit': '30000' } })
  await accounts.setPlan(account.id, 'pro')
  t.match(await call(), { status: 200, headers: { 'X-RateLimit-Limit': '500000' } })
  await accounts.revokeKey(record.id, '2026-02-10T00:00:00Z')
  for (let time = 0; time < 2; time++) t.match(await call(), { status: 401 })
})
