import { once } from 'node:events'
import { parseArgs } from 'node:util'
import type { Change } from './change.ts'
import { openListener } from './listener.ts'
import { parseSets, runNft, type Sets, transactionOf } from './nft.ts'

/*
 * The one part of Sallyport that changes the firewall, and the only one that needs its rights. It imports nothing but Node:
 * what runs with CAP_NET_ADMIN can be read in an hour (D574).
 */

const USAGE = `Usage: sallyport-nft --socket PATH [--set inet/TABLE/NAME] [--nft PROGRAM]

Keeps the bans of Sallyport in the sets NAME4 (ipv4_addr; flags timeout) and NAME6 (ipv6_addr; flags interval, timeout)
of a table that is there already: examples/nftables. The user and the group of this process may open the socket. They
can add addresses for a while and delete them, and nothing else.

  --socket PATH           where the gate finds it: bans.export.nftables
  --set inet/TABLE/NAME   default inet/sallyport/bans
  --nft PROGRAM           default /usr/sbin/nft`

/** A longer path of a socket is cut off by the kernel's interface. */
const MAX_PATH = 100

interface Settings {
  readonly socket: string
  readonly sets: Sets
  readonly program: string
}

/** Runs the helper until it is stopped; resolves with the exit code and never rejects. */
export async function runHelper(argv: readonly string[]): Promise<number> {
  const settings = settingsOf(argv)
  if (typeof settings === 'string') {
    process.stderr.write(`${settings}\n`)
    return 2
  }
  const { socket, sets, program } = settings
  try {
    for (const version of [4, 6]) {
      await runNft(program, ['-t', 'list', 'set', sets.family, sets.table, `${sets.name}${version}`])
    }
    const server = await openListener(socket, oneAtATime(program, sets))
    process.stdout.write(`Listening at ${socket}\n`)
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
    await once(stop.signal, 'abort')
    server.close()
    return 0
  } catch (error) {
    complain(error)
    return 1
  }
}

function settingsOf(argv: readonly string[]): Settings | string {
  try {
    const options = { socket: { type: 'string' }, set: { type: 'string' }, nft: { type: 'string' } } as const
    const {
      socket,
      set = 'inet/sallyport/bans',
      nft = '/usr/sbin/nft',
    } = parseArgs({ args: [...argv], options }).values
    const sets = parseSets(set)
    const isPath = socket?.startsWith('/') === true && socket.length <= MAX_PATH
    if (isPath && sets !== undefined && nft.startsWith('/')) return { socket, sets, program: nft }
  } catch {
    // The usage says it.
  }
  return USAGE
}

/** Applies changes one transaction after the other; says that it cannot once, until it can again. */
function oneAtATime(program: string, sets: Sets): (changes: readonly Change[]) => Promise<boolean> {
  let last: Promise<unknown> = Promise.resolve()
  let isFailing = false
  const apply = async (changes: readonly Change[]): Promise<boolean> => {
    try {
      await runNft(program, ['-f', '-'], transactionOf(changes, sets))
      if (isFailing) process.stderr.write('sallyport-nft: nft takes changes again\n')
      isFailing = false
      return true
    } catch (error) {
      if (!isFailing) complain(error)
      isFailing = true
      return false
    }
  }
  return (changes) => {
    const next = last.then(() => apply(changes))
    last = next
    return next
  }
}

function complain(error: unknown): void {
  process.stderr.write(`sallyport-nft: ${error instanceof Error ? error.message : String(error)}\n`)
}
