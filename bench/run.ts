import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { BENCHES } from './benches.ts'
import { chooseFolder, writeResults } from './report/files.ts'
import { writeDocument } from './report/readme.ts'
import { runBench } from './report/run.ts'
import { durationText } from './report/text.ts'

/*
 * `npm run bench`, or `npm run bench -- lookup inspect` for some of it; `-- --quick` is a smoke test of all, or
 * with `TURN=2/5` of every fifth beginning with the second; `-- readme` writes the tables of README.md again. Read the ratios: machines differ.
 * `-- proxy frameworks --before=FOLDER` measures an earlier state, which is built in that folder, in the same rounds.
 */
async function benchAll(names: readonly string[]): Promise<void> {
  const quick = process.argv.includes('--quick')
  const unknown = names.find((name) => !(name in BENCHES))
  if (unknown !== undefined) throw new Error(`no bench "${unknown}": ${Object.keys(BENCHES).join(', ')}`)
  const [own = 1, turns = 1] = (process.env['TURN'] ?? '1/1').split('/').map(Number)
  const all = Object.entries(BENCHES)
  // More turns than benches repeat them.
  const step = Math.min(turns, all.length)
  const asked = all.filter(([name], index) =>
    names.length === 0 ? index % step === (own - 1) % step : names.includes(name),
  )
  const total = asked.reduce((sum, [, { seconds }]) => sum + seconds[quick ? 1 : 0], 0)
  const lanes = quick && asked.length > 1 ? 2 : 1
  console.log(`${asked.length} benches, about ${durationText(total / lanes)} in all`)
  if (quick && asked.length > 1) return smokeTest(asked.map(([name]) => name))
  for (const [name, bench] of asked) {
    const results = await runBench(name, bench, quick)
    if (results === undefined) continue
    const folder = chooseFolder(results.machine)
    writeResults(folder, results)
    console.log(
      `${name}: the figures are in ${folder}${!quick && results.machine.busy ? ', as the machine was busy' : ''}`,
    )
  }
  writeDocument()
}

/** Starts quick runs, two at a time and the longest first: their figures are not compared. Sets the exit code where a run fails. */
async function smokeTest(names: readonly string[]): Promise<void> {
  const left = names.toSorted((one, other) => quickSeconds(other) - quickSeconds(one))
  const lane = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const argv = [...process.execArgv, process.argv[1] ?? '', '--quick', name]
      const flags = process.argv.slice(2).filter((argument) => /^--\w+=/.test(argument))
      const child = spawn(process.execPath, [...argv, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (bytes: Buffer) => {
          said += bytes
        })
      const [code] = (await once(child, 'close')) as [number | null]
      console.log(code === 0 ? said : `${said}\n${name}: FAILED`)
      if (code !== 0) process.exitCode = 1
    }
  }
  await Promise.all([lane(), lane()])
}

function quickSeconds(name: string): number {
  return BENCHES[name]?.seconds[1] ?? 0
}

const [command, ...rest] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
if (command === 'readme') writeDocument()
else await benchAll(command === undefined ? [] : [command, ...rest])
