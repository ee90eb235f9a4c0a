import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { main } from '../../src/cli/index.ts'

export const BIN = join(import.meta.dirname, '../../../bin/sallyport.mjs')

/** Every embedded source switched off: what the command does is tested, not the data. */
const NO_DATA = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']
  .map((id) => `    ${id}: { enabled: false }`)
  .join('\n')

export interface Workspace {
  readonly folder: string
  readonly config: string
  /** Runs a command with this configuration. */
  command(...argv: readonly string[]): Promise<Run>
  /** Writes a file into the folder, JSON of what is no text, and returns its path. */
  write(name: string, content: unknown): string
}

/** A folder of its own with a configuration in it, removed with the test. */
export function workspace(t: Test, lines: readonly string[] = []): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'test.yaml')
  const text = [`dataDir: ${join(folder, 'data')}`, 'data:', '  refresh: false', '  sources:', NO_DATA, ...lines]
  writeFileSync(config, `${text.join('\n')}\n`)
  return {
    folder,
    config,
    command: (...argv) => run(...argv, '--config', config),
    write(name, content) {
      const file = join(folder, name)
      writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
      return file
    },
  }
}

/** Holds the output and the exit code of a command. */
export interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command in this process. */
export async function run(...argv: readonly string[]): Promise<Run> {
  let out = ''
  let err = ''
  const code = await main(argv, {
    out: (text) => {
      out += `${text}\n`
    },
    err: (text) => {
      err += `${text}\n`
    },
  })
  return { code, out, err }
}

/** Runs a command in a process of its own, into which something is piped. */
export function piping(input: string | Buffer, ...argv: readonly string[]) {
  return spawnSync(process.execPath, [BIN, ...argv], { input, encoding: 'utf8' })
}

/** Controls a command that has a process of its own. */
export interface Started {
  readonly child: ChildProcess
  out(): string
  err(): string
  /** Resolves when stdout or stderr holds a text, or when the process has ended. */
  says(text: string): Promise<void>
  readonly ended: Promise<number | null>
}

/** A command that has not said a text by then says another one: its test fails with what it said, instead of hanging. */
const MAX_WAIT_MS = 240_000

export function start(
  t: Test,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  user: { readonly uid?: number | undefined; readonly gid?: number | undefined } = {},
  /** A program and its arguments, which runs the command. */
  within: readonly string[] = [],
): Started {
  const [program = process.execPath, ...before] = [...within, process.execPath]
  const child = spawn(program, [...before, BIN, ...argv], {
    // No question leaves this machine: the port is the one of RFC 863, and no server listens. A busy machine sheds no request.
    env: { ...process.env, SALLYPORT_DNS_SERVERS: '127.0.0.1:9', SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    out: () => out,
    err: () => err,
    async says(text) {
      let over = false
      void ended.then(() => {
        over = true
      })
      const begun = performance.now()
      while (!`${out}\n${err}`.includes(text) && !over) {
        if (performance.now() - begun > MAX_WAIT_MS) throw new Error(`never said "${text}": ${err}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    ended,
  }
}

/** The processes that a command has started and that live. */
export function listChildProcesses({ child: { pid } }: Started): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Waits for what another process brings about. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** One request on a connection of its own: any worker may have the next. */
export async function ask(url: string, headers: OutgoingHttpHeaders = {}, body?: string) {
  const sent = request(url, { agent: false, headers, method: body === undefined ? 'GET' : 'POST' }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { headers: response.headers, json: JSON.parse(await text(response)) as Readonly<Record<string, unknown>> }
}
