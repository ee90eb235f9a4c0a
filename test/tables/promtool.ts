import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Finds a program of Prometheus on this machine. */
export function findProgram(name: 'promtool' | 'prometheus'): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find(existsSync)
}

const TOOL = findProgram('promtool')

export const NO_PROMTOOL = TOOL === undefined && 'no promtool'

/** Runs promtool; throws with what it said where it fails. */
export function promtool(...argv: readonly string[]): string {
  try {
    return execFileSync(TOOL ?? '', argv, { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as {
      readonly stdout?: string | undefined
      readonly stderr?: string | undefined
    }
    throw new Error(`${stdout}${stderr}`)
  }
}
