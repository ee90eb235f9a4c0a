import { execFileSync, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, openSender } from './shots.ts'

/** Requests of one count, and how often each server is counted in turn. */
const COUNTED = 500
const ROUNDS = 11

/** Requests of each server before any is counted: until then the compiler is counted too. */
const WARM_UP = 20_000

const CONNECTIONS = 8

/** True where valgrind is installed. */
export function canCount(): boolean {
  return spawnSync('callgrind_control', ['--version']).status === 0
}

/**
 * Instructions that the two servers of a program of this folder take for a request, each the second lowest of several
 * counts: what the compiler and the collector do now and then is in some of them. A shared machine does not move them.
 */
export async function countInstructions(
  program: string,
  kind: string,
  requests: readonly Load[],
): Promise<readonly [without: number, inside: number]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-count-'))
  const counts = join(folder, 'counts')
  const child = fork(join(import.meta.dirname, program), [kind], {
    execPath: 'valgrind',
    execArgv: [
      '--tool=callgrind',
      '--instr-atstart=no',
      '--smc-check=all-non-file',
      `--callgrind-out-file=${counts}`,
      process.execPath,
      '--single-threaded',
    ],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let dumps = 0

  const control = (...order: readonly string[]) =>
    execFileSync('callgrind_control', [...order, String(child.pid)], { stdio: 'ignore' })

  async function count({ send }: ReturnType<typeof openSender>): Promise<number> {
    control('-i', 'on')
    control('-z')
    await send(COUNTED)
    control('-d')
    control('-i', 'off')
    dumps++
    const total = /^totals: (\d+)/m.exec(await readFile(`${counts}.${dumps}`, 'utf8'))?.[1]
    if (total === undefined) throw new Error('callgrind wrote no totals')
    return Number(total) / COUNTED
  }

  try {
    const [ports] = (await once(child, 'message')) as [readonly [number, number]]
    const senders = ports.map((port) => openSender(`http://127.0.0.1:${port}`, requests, CONNECTIONS))
    for (const { send } of senders) await send(WARM_UP)
    const counted: readonly [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, sender] of senders.entries()) counted[index]?.push(await count(sender))
    }
    for (const { close } of senders) await close()
    return [secondLowest(counted[0]), secondLowest(counted[1])]
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

function secondLowest(counts: readonly number[]): number {
  return counts.toSorted((x, y) => x - y)[1] ?? Number.NaN
}
