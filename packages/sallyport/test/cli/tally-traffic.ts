import { readFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { readLine } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import type { Test } from 'tap'

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
export const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'

/** Fields that a browser sends beside its name. */
const BROWSER = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en', 'accept-encoding': 'gzip' }

/** An origin whose paths say with what they are answered: `/404/…`, `/502`. Returns its URL. */
export async function openOrigin(t: Test): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.statusCode = Number(/^\/(\d{3})/.exec(url)?.[1] ?? 200)
    response.end('An answer.')
  })
  return `http://127.0.0.1:${await listening(t, server)}`
}

/** Writes the visit of client `at` of many, who asks through a trusted proxy. */
export function visit(at: number): { readonly path: string; readonly headers: Readonly<Record<string, string>> } {
  const paths = ['/', `/orders/${at}`, '/shut/door', '/404/gone', '/about', `/502/${at}`, '/trial/page', '/style.css']
  const path = paths[at % paths.length] as string
  const client = `91.${at % 2}.${at % 50}.${at % 240}`
  const name = at % 11 === 0 ? GPTBOT : at % 13 === 0 ? 'curl/8.5.0' : FIREFOX
  return { path, headers: { ...BROWSER, 'user-agent': name, 'x-forwarded-for': client } }
}

/** Sends requests `from` to `until` over some connections; resolves when each was answered, or its connection ended. */
export async function send(url: string, from: number, until: number, connections = 32): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = from
  const one = async (): Promise<void> => {
    for (;;) {
      const at = next++
      if (at >= until) return
      const { path, headers } = visit(at)
      await new Promise<void>((resolve) => {
        const sent = request(`${url}${path}`, { agent, headers }, (response) => {
          response.resume().on('close', resolve)
        })
        sent.on('error', () => resolve()).end()
      })
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  agent.destroy()
}

/** Lines of a log, as text to how many there are of it. */
export function countedLines(file: string, keyOf: (line: LoggedLine) => string): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const line of readLines(file)) counts.set(keyOf(line), (counts.get(keyOf(line)) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)))
}

export type LoggedLine = NonNullable<ReturnType<typeof readLine>>

export function readLines(file: string): readonly LoggedLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => (text === '' ? [] : (readLine(text) ?? [])))
}

const LINE_END = 10

export function countLines(file: string): number {
  return readFileSync(file).reduce((sum, byte) => sum + (byte === LINE_END ? 1 : 0), 0)
}
