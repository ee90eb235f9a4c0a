import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { CHROMIUM, readReadersAgent } from '../chromium.ts'

/** A window of a Chromium that starts as a person starts it: what drives it otherwise turns parts of it off. */
export interface Window {
  /** Sends a command of the DevTools protocol; rejects where that is refused. */
  send(method: string, params?: object): Promise<Record<string, unknown>>
  /** Lists the events of a name so far. */
  events(method: string): readonly Record<string, unknown>[]
  /** Returns the value of an expression in the page. */
  read(expression: string): Promise<unknown>
}

/** `through`: programs, and their arguments, by which it is started. */
export async function openWindow(t: Test, home: string, through: readonly string[] = []): Promise<Window> {
  const agent = await readReadersAgent()
  const args = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--remote-debugging-port=0']
  const own = [`--user-data-dir=${join(home, 'chromium')}`, `--user-agent=${agent}`, 'about:blank']
  const [program = '', ...given] = [...through, CHROMIUM, ...args, ...own]
  const child = spawn(program, given, { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  t.teardown(async () => {
    const exited = once(child, 'exit')
    process.kill(-Number(child.pid), 'SIGKILL')
    await exited
  })
  let port = ''
  for await (const line of createInterface({ input: child.stderr })) {
    port = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? ''
    if (port !== '') break
  }
  child.stderr.resume()
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly Target[]
  const target = targets.find(({ type }) => type === 'page')
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  return speak(socket)
}

interface Target {
  readonly type: string
  readonly webSocketDebuggerUrl: string
}

interface Message {
  readonly id?: number | undefined
  readonly method?: string | undefined
  readonly params?: Record<string, unknown> | undefined
  readonly result?: Record<string, unknown> | undefined
  readonly error?: { readonly message: string } | undefined
}

function speak(socket: WebSocket): Window {
  const heard: Message[] = []
  const waiting = new Map<number, (answer: Message) => void>()
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message
    if (message.id === undefined) heard.push(message)
    else waiting.get(message.id)?.(message)
  })
  let last = 0
  const send: Window['send'] = async (method, params = {}) => {
    const id = ++last
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { error, result = {} } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  return {
    send,
    events: (method) => heard.flatMap((one) => (one.method === method && one.params !== undefined ? [one.params] : [])),
    async read(expression) {
      const { result } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
      return (result as { readonly value?: unknown }).value
    },
  }
}
