import { spawn } from 'node:child_process'
import type { Change } from './change.ts'

/** The sets of a table: IPv4 is in NAME4, and IPv6 in NAME6. */
export interface Sets {
  readonly family: string
  readonly table: string
  readonly name: string
}

/** Reads `inet/TABLE/NAME`; `undefined` for anything else. */
export function parseSets(text: string): Sets | undefined {
  const [, family, table, name] = /^(inet|netdev)\/([a-z][\w-]{0,31})\/([a-z][\w-]{0,31})$/i.exec(text) ?? []
  return family === undefined || table === undefined || name === undefined ? undefined : { family, table, name }
}

const TIMEOUT_MS = 15_000
const MAX_SAID = 300

/** Runs nft, with no shell and no environment. Rejects with what it said. */
export function runNft(program: string, options: readonly string[], input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...options], { env: {}, stdio: ['pipe', 'ignore', 'pipe'], timeout: TIMEOUT_MS })
    let said = ''
    child.stderr.on('data', (part) => {
      if (said.length < MAX_SAID) said += part
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`nft ended with ${code}: ${said.slice(0, MAX_SAID).split('\n', 1)[0]}`))
    })
    // It may have ended before it has read all: its code says so.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/**
 * One transaction of nft for some changes, of which the last of an element counts. An element is added, deleted and, where it
 * stays, added again: so it gets its new time, and one that is not there can be deleted.
 */
export function transactionOf(changes: readonly Change[], { family, table, name }: Sets): string {
  const last = new Map(changes.map((change) => [change.element.text, change]))
  const statements = ([4, 6] as const).flatMap((version) => {
    const these = [...last.values()].filter(({ element }) => element.family === version)
    const timed = (some: readonly Change[]) =>
      some.map(({ element, seconds = 1 }) => `${element.text} timeout ${seconds}s`)
    const set = `element ${family} ${table} ${name}${version}`
    const statement = (verb: string, elements: readonly string[]): readonly string[] =>
      elements.length === 0 ? [] : [`${verb} ${set} { ${elements.join(', ')} }\n`]
    return [
      ...statement('add', timed(these)),
      ...statement(
        'delete',
        these.map(({ element }) => element.text),
      ),
      ...statement('add', timed(these.filter(({ seconds }) => seconds !== undefined))),
    ]
  })
  return statements.join('')
}
