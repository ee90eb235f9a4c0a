import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../workspaces.ts'
import { MODES, WAYS, type Way } from './copied.ts'
import { NETWORK_NAMES, PRESETS, runLeague } from './league.ts'
import { recordedLines } from './record.ts'
import { outcomeText } from './tables.ts'
import { TOOLS } from './tools.ts'

const RECORDED = join(ROOT, 'bench/accuracy/sets/clients.jsonl')

const { values } = parseArgs({
  options: {
    tools: { type: 'string' },
    pages: { type: 'string', default: '120' },
    presets: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})
const names = values.tools?.split(',')
const tools = TOOLS.filter(({ name }) => names === undefined || names.includes(name))
const onProgress = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
if (values.record) {
  const ways = Object.keys(WAYS) as readonly Way[]
  const { rows } = await runLeague({ tools, ways, presets: ['observe'], networks: ['home'], pages: 1, onProgress })
  writeFileSync(RECORDED, recordedLines(rows))
} else {
  const pages = Number(values.pages)
  const presets = PRESETS.filter((name) => values.presets === undefined || values.presets.split(',').includes(name))
  const { rows } = await runLeague({ tools, ways: MODES, presets, networks: NETWORK_NAMES, pages, onProgress })
  for (const row of rows) {
    process.stdout.write(
      `${[row.tool.name, row.way, row.preset, row.network, outcomeText(row, pages), row.fault ?? '', row.visit?.asked[0]?.request.ja4].join(' ')}\n`,
    )
  }
}
