import { readFileSync } from 'node:fs'
import { type Config, configNotices, type Sallyport } from '@sallyport/engine'
import type { Proxy as RunningProxy } from '@sallyport/proxy'
import { showDemo } from '../demo/show-demo.ts'
import { sourcesSentence } from '../terminal/sources.ts'
import { bold, type Terminal } from '../terminal/terminal.ts'

const NO_ORIGIN =
  'without an origin: every path except /v1 is a 404. Set upstream or routes, or set demo: true for an example site.'

export function isDemo({ demo, upstream }: Config): boolean {
  return demo && upstream === undefined
}

/** A process needs so many file descriptors for files, stores and listeners beside its connections. */
const OTHER_DESCRIPTORS = 128

/**
 * Returns a sentence where the permitted connections may need more file descriptors than a process may open: the process would then accept
 * no more visitors. `limits` has the form of `/proc/self/limits`, and is absent except on Linux.
 */
export function descriptorNotice(
  { limits: { connections, originConnections }, routes }: Config,
  limits = tryRead('/proc/self/limits'),
): string | undefined {
  const may = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  const needs = connections + originConnections * (1 + routes.length) + OTHER_DESCRIPTORS
  if (needs <= may) return undefined
  return `limits.connections: ${connections} connections plus connections to origins may need ${needs} file descriptors, but this process may open only ${may}. Raise the limit (ulimit -n, or LimitNOFILE in systemd), or lower limits.connections.`
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export async function announce(
  sallyport: Sallyport,
  config: Config,
  proxy: RunningProxy,
  terminal: Terminal,
): Promise<void> {
  terminal.err(`${bold('Data')} from ${sourcesSentence(sallyport.sources())}`)
  for (const { key, message } of configNotices(config, [])) terminal.err(`notice: ${key}: ${message}`)
  const few = descriptorNotice(config)
  if (few !== undefined) terminal.err(`notice: ${few}`)
  const origins = config.routes.flatMap(({ upstreams = [] }) => upstreams)
  const named = [...new Set([...origins, ...(proxy.upstream === undefined ? [] : [proxy.upstream])])]
  const origin = isDemo(config) ? 'an example site' : named.length === 0 ? undefined : named.join(', ')
  if (config.forwardAuth !== false) terminal.err(`Checks for ${config.forwardAuth} at ${proxy.url}/.sallyport/check`)
  terminal.err(`${bold('Listening')} on ${proxy.url}, ${origin === undefined ? NO_ORIGIN : `in front of ${origin}`}`)
  if (proxy.httpUrl !== undefined) terminal.err(`Plain HTTP on ${proxy.httpUrl}`)
  if (proxy.adminUrl !== undefined) terminal.err(`Health at ${proxy.adminUrl}/readyz`)
  if (config.api.enabled) terminal.err(`API at ${proxy.url}${config.api.base}/v1/openapi.json`)
  if (isDemo(config)) await showDemo(sallyport, proxy.url, terminal)
}
