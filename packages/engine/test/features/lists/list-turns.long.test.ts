import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { madeConfig } from '../../open/made-sources.ts'
import { openService } from '../../open/opened.ts'
import { requestFrom } from '../../open/requests.ts'

const MILLION = 1_000_000
const address4 = (at: number) => `${11 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.7`
const prefix6 = (at: number) => `2a00:${(at >> 8).toString(16)}:${(at & 255).toString(16)}::/48`

t.test('requests have their turns while a list of a million lines is read again', async (t) => {
  const folder = t.testdir({ 'bad.txt': '198.51.100.7\n' })
  const file = join(folder, 'bad.txt')
  const config = {
    ...madeConfig(folder),
    lists: { bad: { file } },
    policy: { rules: [{ id: 'listed', match: { address: ['list:bad'] }, action: 'block' as const }] },
  }
  const sallyport = await openService(t, config)
  for (const [name, entry, listed] of [
    ['IPv4', address4, '11.0.0.7'],
    ['IPv6', prefix6, '2a00::1'],
  ] as const) {
    writeFileSync(file, Array.from({ length: MILLION }, (_, at) => `${entry(at)}\n`).join(''))
    let turns = 0
    let isDone = false
    const reloaded = sallyport.reload(config).then(() => {
      isDone = true
    })
    for (; !isDone; turns++) {
      sallyport.decide(requestFrom('203.0.113.1'))
      await turn()
    }
    await reloaded
    t.equal(sallyport.decide(requestFrom(listed)).action, 'block')
    // Reading alone is 500 turns; sorting and laying out are as many batches of 4,096 for each of the bytes that differ.
    t.ok(turns > MILLION / 2_000 + (3 * MILLION) / 4_096, `${name}: ${turns} turns`)
  }
})
