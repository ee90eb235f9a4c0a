import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Machine } from './result.ts'

/** Longer than the load of the bench before takes to leave the average. */
const PATIENCE_MS = 180_000
const LOOK_MS = 5_000

/** True where more work than a processor each was waiting in the last minute. */
export function isBusy(load: number, cores: number): boolean {
  return load > cores
}

/** Waits until the processors are free, some minutes at the most. */
export async function waitUntilFree(): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (isBusy(loadavg()[0] ?? 0, cpus().length) && performance.now() < until) await delay(LOOK_MS)
}

/** The machine of a bench, when it begins. */
export function readMachine(): Omit<Machine, 'size' | 'seconds'> {
  const [first] = cpus()
  const load = Number((loadavg()[0] ?? 0).toFixed(2))
  return {
    processor: first?.model.trim() || 'unknown processor',
    cores: cpus().length,
    gigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    commit: commitHere(),
    load,
    ...(isBusy(load, cpus().length) && { busy: true }),
  }
}

/** Marked where files differ from it. */
function commitHere(): string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no', '--', '*.ts') === '' ? '' : '+'}`
  } catch {
    return 'no commit'
  }
}
