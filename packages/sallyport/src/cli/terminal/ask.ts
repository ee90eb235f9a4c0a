import { createInterface } from 'node:readline'
import { SallyportError } from '@sallyport/core'
import { InvalidArgumentError, Option } from 'commander'
import { ExitError, type Terminal } from './terminal.ts'

export function yesOption(): Option {
  return new Option('--yes', 'do not ask for confirmation')
}

/** Asks on a terminal, and goes on at `yes`. Without a terminal no person can answer, so `--yes` is required. */
export async function confirm(question: string, yes: true | undefined, terminal: Terminal): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new SallyportError('invalid_request', `${question} Confirm with --yes.`)
  const answer = await withQuestions(terminal, (ask) => ask(`${question} Type yes to continue: `))
  if (answer.toLowerCase() !== 'yes') giveUp(terminal)
}

/** Asks the person at the terminal. Resolves with the answer without spaces around; ends the command at Ctrl-C and Ctrl-D. */
export type Ask = (prompt: string) => Promise<string>

export async function withQuestions<Result>(terminal: Terminal, work: (ask: Ask) => Promise<Result>): Promise<Result> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const lines = asking[Symbol.asyncIterator]()
  try {
    return await work(async (prompt) => {
      asking.setPrompt(prompt)
      asking.prompt()
      const { done, value } = await lines.next()
      if (done !== true) return value.trim()
      terminal.err('')
      return giveUp(terminal)
    })
  } finally {
    asking.close()
  }
}

function giveUp(terminal: Terminal): never {
  terminal.err('Nothing was changed.')
  throw new ExitError(1)
}

export interface Choice {
  readonly name: string
  readonly about: string
}

/** Shows a numbered list, and asks until `read` takes an answer: numbers or names, separated by commas. Enter means `initial`. */
export async function choose<Answer>(
  ask: Ask,
  terminal: Terminal,
  title: string,
  choices: readonly Choice[],
  initial: string,
  read: (text: string) => Answer,
): Promise<Answer> {
  const width = Math.max(0, ...choices.map(({ name }) => name.length))
  terminal.err(`\n${title}`)
  for (const [at, { name, about }] of choices.entries()) terminal.err(`  ${at + 1}  ${name.padEnd(width)}  ${about}`)
  for (;;) {
    const answer = (await ask(`Number or name [${initial}]: `)) || initial
    const names = answer.split(',').map((part) => choices[Number(part) - 1]?.name ?? part.trim())
    try {
      return read(names.join(','))
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      terminal.err(error.message)
    }
  }
}

export function readChoice<Named extends Choice>(choices: readonly Named[]): (text: string) => Named {
  return (text) => {
    const found = choices.find(({ name }) => name === text.toLowerCase())
    if (found !== undefined) return found
    throw new InvalidArgumentError(`"${text}" is not a choice: ${choices.map(({ name }) => name).join(', ')}.`)
  }
}
