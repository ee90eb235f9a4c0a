import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sample } from './probe.ts'

const PATIENCE_MS = 20_000

/** Options of Node with which a program and its children can be asked what they hold; they say it in this folder. */
export function probed(folder: string): readonly string[] {
  process.env['BENCH_PROBES'] = folder
  return ['--expose-gc', '--import', join(import.meta.dirname, 'probe.js')]
}

/** Memory of a process started with `probed`, once its garbage is collected. It stops for some tenths of a second. */
export async function takeSample(pid: number, folder: string): Promise<Sample> {
  const lines = (): readonly string[] => {
    try {
      return readFileSync(join(folder, String(pid)), 'utf8')
        .trim()
        .split('\n')
    } catch {
      return []
    }
  }
  const before = lines().length
  process.kill(pid, 'SIGUSR2')
  const until = performance.now() + PATIENCE_MS
  while (lines().length === before) {
    if (performance.now() > until) throw new Error(`process ${pid} does not say what it holds`)
    await delay(20)
  }
  return JSON.parse(lines().at(-1) as string)
}
