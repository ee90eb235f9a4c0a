import { queryObjects } from 'node:v8'
import t from 'tap'
import { createKey, KEY_BYTES } from '#accounts'
import { CLIENT_LIMITS } from '../../src/api/client-limits.ts'
import { createWire } from './wire.ts'

const KEYS = 500
const { max: MAX_UNAUTHORIZED } = CLIENT_LIMITS.unauthorized

/** A key of the right form and checksum that nobody was given. */
function madeUpKey(number: number): string {
  const bytes = new Uint8Array(KEY_BYTES)
  new DataView(bytes.buffer).setUint32(4, number + 1)
  return createKey(bytes).text
}

/** Objects that are alive; the count collects garbage first. */
function objectsHeld(): number {
  return queryObjects(Object, { format: 'count' })
}

for (const { name, before, asks } of [
  { name: 'made-up keys', before: 'Bearer ', asks: KEYS },
  { name: 'made-up keys behind blanks', before: `Bearer ${' '.repeat(1_000)}`, asks: 0 },
]) {
  t.test(`nothing is held of ${name}`, async (t) => {
    let asked = 0
    const wire = createWire({
      fault(operation) {
        if (operation === 'findKey') asked++
        return undefined
      },
    })
    const call = async (number: number) =>
      (await wire.call('GET', '/v1/vpn/11.0.0.1', { fields: ['Authorization', before + madeUpKey(number)] })).status
    await call(KEYS)
    asked = 0
    const held = objectsHeld()
    let refused = 0
    for (let number = 0; number < KEYS; number++) if ((await call(number)) === 429) refused++
    const added = objectsHeld() - held
    t.equal(refused, KEYS - MAX_UNAUTHORIZED + 1, 'the first call was one of them')
    t.equal(asked, asks, 'each is looked at: it could be valid')
    t.ok(added < KEYS / 2, `${added} more objects are alive after ${KEYS} keys`)
  })
}
