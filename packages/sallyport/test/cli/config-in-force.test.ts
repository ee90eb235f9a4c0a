import { readConfig } from '@sallyport/engine'
import t from 'tap'
import { createInForce } from '../../src/cli/workers/config-in-force.ts'

const FIRST = readConfig({})
const OTHER = readConfig({ flags: { mode: 'monitor' } })

t.test('a new worker starts with the configuration of the others, and reads changes made meanwhile', async (t) => {
  const inForce = createInForce(FIRST)
  const first = inForce.start(false)
  t.equal(first.config, undefined, 'the first one reads the file')
  t.equal(inForce.serves(first.stamp, OTHER), false)
  t.equal(inForce.config, OTHER, 'which may be another than the primary has read')

  const second = inForce.start(false)
  t.equal(second.config, OTHER)
  t.equal(inForce.serves(second.stamp, OTHER), false)

  const asked = inForce.start(false)
  inForce.ask()
  t.equal(inForce.serves(asked.stamp, OTHER), true, 'it was asked for a reload as it started')
  inForce.take(OTHER)
  const settled = inForce.start(false)
  t.equal(inForce.serves(settled.stamp, OTHER), false, 'a reload that changed nothing is one')

  const watching = inForce.start(false)
  inForce.take(FIRST)
  t.equal(inForce.serves(watching.stamp, OTHER), true, 'the others took a changed file over as it started')
  t.equal(inForce.config, FIRST)

  inForce.ask()
  const before = inForce.start(false)
  t.equal(before.config, FIRST)
  t.equal(inForce.serves(before.stamp, FIRST), true, 'nobody served when a reload was asked for')
  const reads = inForce.start(true)
  t.equal(reads.config, undefined)
  t.equal(inForce.serves(reads.stamp, OTHER), false)
  t.equal(inForce.config, OTHER)
})
