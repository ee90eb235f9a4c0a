import { readdirSync, readFileSync } from 'node:fs'

/* Linux's figures of running processes, by their ids. */

/** Clock ticks a second, in which Linux tells processor times to programs. */
const TICKS = 100

/** A process with its children, and theirs; one that has ended is left out. */
export function familyOf(pid: number): readonly number[] {
  try {
    return [pid, ...childrenOf(pid).flatMap(familyOf)]
  } catch {
    return []
  }
}

/** The children of a running process, the oldest first. */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Seconds of processor time, of the programs and of the kernel for them. */
export function processorTime(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program comes before these, in brackets, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / TICKS
}

/** Megabytes that are resident. */
export function resident(pid: number): number {
  return megabytes(pid, 'VmRSS')
}

/** The most megabytes that were resident since the process began. */
export function peak(pid: number): number {
  return megabytes(pid, 'VmHWM')
}

/** Open descriptors. */
export function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function megabytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
}
