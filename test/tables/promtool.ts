import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Finds a program on the path. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(existsSync)
}

const TOOL = findProgram('promtool')

export const NO_PROMTOOL = TOOL === undefined && 'no promtool'

export function promtool(...argv: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(TOOL ?? '', argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  return stdout
}
