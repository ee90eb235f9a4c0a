import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { type Started, start, workspace } from './command.ts'

export const LOOPBACK = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
export const SHUT = 'policy: { rules: [{ id: shut, match: { path: ["/shut/**"] }, action: block }] }\n'

/** Writes a configuration whose policy shuts a path. */
export function shutProxy(t: Test, { watch = false } = {}) {
  const { config, folder } = workspace(t, ['demo: true'])
  const text = `${readFileSync(config, 'utf8')}${watch ? 'watch: true\n' : ''}${SHUT}`
  return { folder, config, text }
}

export async function serving(t: Test, config: string, more: readonly string[] = []) {
  const proxy = start(t, ['proxy', '--config', config, ...LOOPBACK, ...more])
  await proxy.says('Listening')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  const status = async (path = '/shut/door'): Promise<number> => (await fetch(`${url}${path}`)).status
  return { proxy, status }
}

/** Waits for one more line of a reload, and returns it. */
export async function nextLine(proxy: Started, act: () => unknown): Promise<string> {
  const lines = (): readonly string[] => proxy.err().match(/^.*(?:configuration reloaded|reload rejected).*$/gm) ?? []
  const before = lines().length
  await act()
  while (lines().length === before && proxy.child.exitCode === null) await delay(10)
  return lines().at(-1) ?? ''
}
