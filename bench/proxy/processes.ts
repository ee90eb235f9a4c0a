import { readdirSync, readFileSync } from 'node:fs'

/* These functions read Linux's figures of running processes by their IDs. */

/** Linux reports processor times in clock ticks, and a second has this many. */
const TICKS = 100

/** Lists a process, its children and theirs, and omits processes that have ended. */
export function listFamily(pid: number): readonly number[] {
  try {
    return [pid, ...listChildren(pid).flatMap(listFamily)]
  } catch {
    return []
  }
}

/** Lists the children of a running process, the oldest first. */
export function listChildren(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** Sums the seconds of processor time that the programs used, and the kernel for them. */
export function processorTime(pids: readonly number[]): number {
  let ticks = 0
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program comes before these fields in brackets, and may hold any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / TICKS
}

/** Returns the resident megabytes. */
export function resident(pid: number): number {
  return megabytes(pid, 'VmRSS')
}

/** Returns the most megabytes that were resident since the process began. */
export function peak(pid: number): number {
  return megabytes(pid, 'VmHWM')
}

/** Counts open descriptors. */
export function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function megabytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
}
