import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import type { Machine } from './result.ts'

/** The machine of a bench, when it begins. */
export function readMachine(): Omit<Machine, 'size' | 'seconds'> {
  const [first] = cpus()
  return {
    processor: first?.model.trim() || 'unknown processor',
    cores: cpus().length,
    gigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    commit: commitHere(),
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
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
