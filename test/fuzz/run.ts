import { parseArgs } from 'node:util'
import { TARGETS } from './targets.ts'

/* Run `npm run fuzz`, or `npm run fuzz -- "raw HTTP/1" --seconds 60 --seed 7 --path 3:0`. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' }, path: { type: 'string' } },
})
const seconds = Number(values.seconds)
const seed = values.seed === undefined ? Date.now() & 0x7fff_ffff : Number(values.seed)
const unknown = positionals.find((name) => !TARGETS.some((target) => target.name === name))
if (unknown !== undefined) throw new Error(`no target "${unknown}": ${TARGETS.map(({ name }) => name).join(', ')}`)
const chosen = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))

const say = (line: string): void => void process.stdout.write(`${line}\n`)
let rejections = 0
process.on('unhandledRejection', () => rejections++)
say(`fuzzing for ${Math.ceil((seconds * chosen.length) / 60)} min, seed ${seed}`)
for (const { name, fuzz } of chosen) {
  const { inputs, failure } = await fuzz({ seed, milliseconds: seconds * 1_000, path: values.path })
  say(`${failure === undefined ? 'pass' : 'FAIL'}  ${name}, ${inputs} inputs`)
  if (failure === undefined) continue
  process.exitCode = 1
  say(failure)
}
if (rejections > 0) {
  process.exitCode = 1
  say(`${rejections} rejections that nobody handled`)
}
