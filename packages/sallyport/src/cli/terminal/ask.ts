import { createInterface } from 'node:readline/promises'
import { SallyportError } from '@sallyport/core'
import { Option } from 'commander'
import { ExitError } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** For a command that asks before it does what cannot be undone. */
export function yesOption(): Option {
  return new Option('--yes', 'do not ask for confirmation')
}

/** Asks on a terminal, and goes on at `yes`. Elsewhere nobody can answer: `--yes` has to say it. */
export async function confirm(question: string, yes: true | undefined, terminal: Terminal): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new SallyportError('invalid_request', `${question} Say it with --yes.`)
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${question} Type yes to go on: `)
    if (answer.trim().toLowerCase() === 'yes') return
  } finally {
    asking.close()
  }
  terminal.err('Nothing was done.')
  throw new ExitError(1)
}
