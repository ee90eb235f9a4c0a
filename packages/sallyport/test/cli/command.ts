import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import { main } from '../../src/cli/index.ts'

export const BIN = join(import.meta.dirname, '../../../bin/sallyport.mjs')
export const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'
export const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'

/** Every embedded source switched off: what the command does is tested, not the data. */
const NO_DATA = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']
  .map((id) => `    ${id}: { enabled: false }`)
  .join('\n')

export function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-cli-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

export function workspace(t: Test, lines: readonly string[] | ((folder: string) => readonly string[]) = []) {
  const folder = makeFolder(t)
  const config = join(folder, 'test.yaml')
  const own = typeof lines === 'function' ? lines(folder) : lines
  const all = [`dataDir: ${join(folder, 'data')}`, 'data:', '  refresh: false', '  sources:', NO_DATA, ...own]
  writeFileSync(config, `${all.join('\n')}\n`)
  const command = (...argv: readonly string[]) => run(...argv, '--config', config)
  return {
    folder,
    config,
    command,
    /** Runs a command with this configuration, and parses what it prints for programs. */
    object: async (...argv: readonly string[]) => JSON.parse((await command(...argv, '--json')).out),
    /** Writes a file into the folder, JSON of what is no text, and returns its path. */
    write(name: string, content: unknown): string {
      const file = join(folder, name)
      writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
      return file
    },
  }
}

type Run = Awaited<ReturnType<typeof run>>

export async function run(...argv: readonly string[]) {
  let [out, err] = ['', '']
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

export type Started = ReturnType<typeof start>

/** A command that has not said a text by then says another one: its test fails with what it said, instead of hanging. */
const MAX_WAIT_MS = 240_000

/** Starts a command in a process of its own. */
export function start(
  t: Test,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'stdio'> = {},
  /** A program and its arguments, which runs the command. */
  within: readonly string[] = [],
) {
  const [program = process.execPath, ...before] = [...within, process.execPath]
  const child: ChildProcess = spawn(program, [...before, BIN, ...argv], {
    // No question leaves this machine: the port is the one of RFC 863, and no server listens. A busy machine sheds no request.
    env: { ...process.env, SALLYPORT_DNS_SERVERS: '127.0.0.1:9', SALLYPORT_LIMITS_EVENT_LOOP_DELAY: '1m', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  let [out, err, isOver] = ['', '', false]
  child.stdout?.on('data', (text) => {
    out += text
  })
  child.stderr?.on('data', (text) => {
    err += text
  })
  const ended = once(child, 'close').then(([code]) => {
    isOver = true
    return code as number | null
  })
  /** Sends a signal, and resolves with the exit code. */
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  t.teardown(() => stop('SIGKILL'))
  return {
    child,
    out: () => out,
    err: () => err,
    /** Resolves when stdout or stderr holds a text, or when the process has ended. */
    async says(text: string): Promise<void> {
      const begun = performance.now()
      await until(() => {
        if (performance.now() - begun > MAX_WAIT_MS) throw new Error(`never said "${text}": ${err}`)
        return isOver || `${out}\n${err}`.includes(text)
      })
    },
    ended,
    stop,
  }
}

/** A user without rights: rights do not bind root. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Resolves with what a command has said, once it has ended. */
export async function finish({ ended, out, err }: Started): Promise<Run> {
  return { code: (await ended) ?? -1, out: out(), err: err() }
}

/** Starts a proxy on loopback, and reads where it listens once it has said a text: by default its last line. */
export async function serve(
  t: Test,
  config: string,
  argv: readonly string[] = [],
  said = 'Console at',
  env: Readonly<Record<string, string>> = {},
) {
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...argv], env)
  await proxy.says(said)
  const find = (pattern: RegExp): string => pattern.exec(proxy.err())?.[1] ?? ''
  const file = find(/with the token in (\S+)/)
  return {
    ...proxy,
    url: find(/Listening on (http:\/\/[\w.:]+)/),
    admin: find(/Health at (http:\/\/[\w.:]+)/),
    token: file === '' ? '' : readFileSync(file, 'utf8').trim(),
    key: find(/shown only once:\S* (sp_\w+)/),
  }
}

/** An origin whose paths say with what they are answered: `/404/…`, `/502`. Returns its URL. */
export async function openOrigin(t: Test): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.statusCode = Number(/^\/(\d{3})/.exec(url)?.[1] ?? 200)
    response.end('An answer.')
  })
  return `http://127.0.0.1:${await listening(t, server)}`
}

/** The processes that a command has started and that live. */
export function listChildProcesses({ child: { pid } }: Pick<Started, 'child'>): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** One request on a connection of its own: any worker may have the next. */
export async function visit(url: string, headers: OutgoingHttpHeaders = {}, body?: string, method?: string) {
  const how = method ?? (body === undefined ? 'GET' : 'POST')
  const sent = request(url, { agent: false, headers, method: how }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
}

export async function ask(url: string, headers: OutgoingHttpHeaders = {}, body?: string) {
  const answer = await visit(url, headers, body)
  return { headers: answer.headers, json: JSON.parse(answer.text) as Readonly<Record<string, unknown>> }
}

/** Asks the console of a proxy as its administrator. */
export const openConsoleApi =
  ({ admin, token }: { readonly admin: string; readonly token: string }) =>
  async (path: string) =>
    (await ask(`${admin}/console/api/${path}`, { authorization: `Bearer ${token}` })).json
