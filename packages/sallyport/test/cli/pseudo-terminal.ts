import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { BIN } from './command.ts'

const PYTHON = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

/** Programs that run a command on a terminal of its own, passing on what is typed and shown. */
const EMULATIONS: readonly ((argv: readonly string[]) => readonly [string, ...(readonly string[])])[] = [
  (argv) => ['python3', '-c', PYTHON, ...argv],
  (argv) => ['script', '-qec', argv.map((word) => `'${word}'`).join(' '), '/dev/null'],
]

const EMULATION = EMULATIONS.find((emulate) => {
  const [program, ...rest] = emulate(['true'])
  return spawnSync(program, rest, { input: '' }).status === 0
})

/** Why a test on a terminal is skipped. */
export const NO_TERMINAL = EMULATION === undefined && 'neither python3 nor script'

/** A command that runs on a terminal. */
export interface PseudoTerminal {
  /** Resolves with what was shown up to this text and was not waited for before. Rejects where the command ends without it. */
  shows(text: string): Promise<string>
  type(keys: string): void
  /** Resolves with the exit code and with all that was shown. */
  readonly ended: Promise<{ readonly code: number | null; readonly shown: string }>
}

export function openTerminal(t: Test, argv: readonly string[], cwd: string): PseudoTerminal {
  if (EMULATION === undefined) throw new Error(String(NO_TERMINAL))
  const [program, ...rest] = EMULATION([process.execPath, BIN, ...argv])
  const child = spawn(program, rest, { cwd, env: { ...process.env, NO_COLOR: '1' } })
  let shown = ''
  let read = 0
  let isOver = false
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text
  })
  const ended = once(child, 'close').then(([code]) => {
    isOver = true
    return { code: code as number | null, shown }
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    async shows(text) {
      while (!shown.includes(text, read)) {
        if (isOver) throw new Error(`"${text}" is not shown: ${shown.slice(read)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const part = shown.slice(read, shown.indexOf(text, read) + text.length)
      read += part.length
      return part
    },
    type: (keys) => void child.stdin.write(keys),
    ended,
  }
}
