import t from 'tap'
import { TARGETS } from './targets.ts'

/* A short walk with one seed; `npm run fuzz` goes on for as long as it is given, with others. */
const SEED = 20_261_124
const INPUTS = 60

for (const { name, fuzz } of TARGETS) {
  t.test(name, async (t) => {
    const { inputs, failure } = await fuzz({ seed: SEED, inputs: INPUTS })
    t.equal(failure, undefined, failure ?? name)
    t.equal(inputs, INPUTS)
  })
}
