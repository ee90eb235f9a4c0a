import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../workspaces.ts'
import { MODES, WAYS, type Way } from './copied.ts'
import { NETWORK_NAMES, PRESETS, runLeague } from './league.ts'
import { recordedLines } from './record.ts'
import { leagueText } from './tables.ts'
import { TOOLS } from './tools.ts'

/*
 * `npm run league` prints who gets through each preset; `-- --write` writes it into the documents, `-- --record` writes the header
 * sets of the accuracy bench, and `-- --tools=curl,got --pages=20` takes some of it.
 */
const DOCUMENT = join(ROOT, 'bench/league.md')
const RECORDED = join(ROOT, 'bench/accuracy/sets/clients.jsonl')
const MARK = '<!-- results of league -->'

const { values } = parseArgs({
  options: {
    tools: { type: 'string' },
    pages: { type: 'string', default: '120' },
    lanes: { type: 'string', default: String(availableParallelism()) },
    write: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const names = values.tools?.split(',') ?? TOOLS.map(({ name }) => name)
const unknown = names.find((name) => !TOOLS.some((tool) => tool.name === name))
if (unknown !== undefined) throw new Error(`no tool "${unknown}": ${TOOLS.map(({ name }) => name).join(', ')}`)
const shared = {
  tools: TOOLS.filter(({ name }) => names.includes(name)),
  lanes: Number(values.lanes),
  onProgress: (line: string) => void process.stderr.write(`${line}\n`),
}
if (values.record) {
  const ways = Object.keys(WAYS) as readonly Way[]
  const { rows } = await runLeague({ ...shared, ways, presets: ['observe'], networks: ['home'], pages: 1 })
  writeFileSync(RECORDED, recordedLines(rows))
} else {
  const pages = Number(values.pages)
  const league = await runLeague({ ...shared, ways: MODES, presets: PRESETS, networks: NETWORK_NAMES, pages })
  const text = leagueText(league, new Date().toISOString().slice(0, 10))
  process.stdout.write(`${text}\n`)
  if (values.write) {
    const [prose = ''] = readFileSync(DOCUMENT, 'utf8').split(MARK)
    writeFileSync(DOCUMENT, `${prose}${MARK}\n${text}\n`)
  }
}
