import { setTimeout as delay } from 'node:timers/promises'
import { clockText, type Finding, findingOf, reportFindings } from '../promises.ts'
import { scratch } from './scratch.ts'

/*
 * `npm run fault`, `npm run fault -- --quick` for less of each, `npm run fault -- R8 R9` for some: what is promised of a service that
 * things go wrong around. It ends with one table; the exit code is 1 where a promise does not hold.
 */
const arguments_ = process.argv.slice(2)
const quick = arguments_.includes('--quick')
/** Flags for less of every run; a flag of the command line comes before these. */
const LESS = [
  '--calls=1000',
  '--keys=200000',
  '--seconds=4',
  '--upload-seconds=10',
  '--download-seconds=12',
  '--each=60',
  '--minutes=0.25',
  '--steady-connections=300',
  '--rate=2000',
  '--bodies=5000',
  '--connections=3000',
  '--outage-seconds=3',
  '--kills=5',
  '--fuzz-seconds=2',
  '--soak-minutes=0.5',
  '--restarts=2',
  '--deaths=4',
  '--first-bytes=40',
  '--reload-rounds=1',
  '--authority-seconds=2',
  '--people-seconds=10',
  '--replay-rounds=5',
]
if (quick) process.argv.push(...LESS)
const { ROWS, compiledPlace } = await import('./rows.js')

const asked = arguments_.filter((argument) => !argument.startsWith('--'))
const unknown = asked.find((name) => !ROWS.some((row) => row.name === name))
if (unknown !== undefined) throw new Error(`no row "${unknown}": ${ROWS.map(({ name }) => name).join(', ')}`)
const chosen = ROWS.filter(({ name }) => asked.length === 0 || asked.includes(name))
const secondsOf = ({ seconds }: (typeof ROWS)[number]): number => (quick ? seconds.quick : seconds.whole)
console.log(
  `${chosen.length} promises, some ${clockText(chosen.reduce((sum, row) => sum + secondsOf(row), 0))} minutes on two idle processors`,
)

// Everything started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const findings: Finding[] = []
const began = performance.now()
await scratch(async (folder) => {
  const place = compiledPlace(folder)
  for (const [at, row] of chosen.entries()) {
    const { name, promise, missing } = row
    const passed = clockText((performance.now() - began) / 1000)
    console.log(`\n${passed}  ${at + 1} of ${chosen.length}  ${name}  ${promise}: some ${clockText(secondsOf(row))}`)
    const reason = missing?.()
    if (typeof reason === 'string') {
      findings.push({ name, promise, measured: reason, outcome: 'skip' })
      continue
    }
    const measured = await row.run(place).catch((error: unknown) => ({ measured: '', broken: [String(error)] }))
    findings.push(findingOf(name, promise, measured))
    console.log(`${findings.at(-1)?.outcome}  ${findings.at(-1)?.measured}`)
    // The leftovers of one run must not be those of the next.
    await delay(500)
  }
})
reportFindings('what is promised, and what was measured', findings)
process.exit()
