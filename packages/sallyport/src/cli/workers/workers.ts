import cluster from 'node:cluster'
import type { Config } from '@sallyport/engine'
import { ExitError, type Terminal } from '../terminal/terminal.ts'
import { Crew } from './crew.ts'
import { openWorkersSinks } from './events.ts'
import { type Hangups, untilStopped } from './signals.ts'
import { notifySystemd } from './systemd.ts'

const LOOK_MS = 1_000

/**
 * Runs this command line in `count` worker processes that share their listeners, until the first SIGINT or SIGTERM. The first worker starts
 * alone, compiles the data and prints; if it cannot start, the command ends with its exit code. A worker that dies or hangs later is
 * replaced.
 */
export async function runWorkers(
  count: number,
  config: Config,
  file: string | undefined,
  hangups: Hangups,
  terminal: Terminal,
): Promise<void> {
  // A worker that starts while the file is missing must not begin without it.
  if (file !== undefined) cluster.setupPrimary({ args: [...process.argv.slice(2), '--config', file] })
  const stopped = untilStopped(terminal)
  const say = (line: string): void => terminal.err(line)
  const sinks = openWorkersSinks(config, say)
  const crew = new Crew(count, config, say, sinks)
  // A worker that hangs does not see that this process is gone.
  process.once('exit', () => crew.killSilent())
  const looking = setInterval(() => crew.look(), LOOK_MS)
  try {
    crew.fill()
    // This comes after the first start, which may then be asked to read the configuration again.
    hangups(() => crew.reload())
    const end = await Promise.race([stopped, crew.failed])
    if (typeof end === 'number') throw new ExitError(end)
    terminal.err('Finishing requests in flight; repeat to stop now.')
    void notifySystemd('stopping', 'Finishing requests in flight', terminal)
    await crew.stop(end)
  } finally {
    clearInterval(looking)
    await sinks.close()
  }
}
