import { existsSync, lstatSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The kernel exposes itself in these file systems; the numbers are those of Linux's `statfs` (linux/magic.h). */
const OF_THE_KERNEL: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x1cd1, // devpts
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xf97cff8c, // selinuxfs
  0x62656570, // configfs
  0xcafe4a11, // bpf
  0x42494e4d, // binfmt_misc
  0x65735543, // fusectl
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0x19800202, // mqueue
  0x67596969, // rpc_pipefs
])

/**
 * Returns why files and folders of ours cannot be placed at a path, in words that follow the path; `undefined` if they can. The target of a
 * link counts: `/proc/self/fd/1` is a place to write to.
 */
export function placeFault(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  const asked = resolve(path)
  const there = nearest(asked)
  const real = resolvePath(there)
  // In a container a part of /sys may be of another kind.
  if (OF_THE_KERNEL.has(statfsSync(there).type) || `${real}/`.startsWith('/sys/'))
    return 'is in a file system of the kernel'
  return there !== asked && real === '/dev' ? 'is in /dev, which is for devices' : undefined
}

/** Returns why a folder cannot be made, being a dangling link or below one, in words that follow its path. */
export function linkFault(folder: string): string | undefined {
  let path = resolve(folder)
  while (!existsSync(path)) {
    const code = isLink(path) ? codeAt(path) : undefined
    if (code !== undefined && code !== 'EACCES')
      return code === 'ELOOP' ? 'leads through a circular link' : 'leads through a broken link'
    path = dirname(path)
  }
  return undefined
}

/** Names a folder that keeps this user from seeing whether a path exists, as a sentence without its full stop. */
export function closedFault(path: string): string | undefined {
  let below = resolve(path)
  if (existsSync(below)) return undefined
  while (!existsSync(dirname(below))) below = dirname(below)
  if (codeAt(below) !== 'EACCES') return undefined
  return isLink(below)
    ? `${below} leads into a folder that this user cannot access`
    : `${dirname(below)} cannot be accessed by this user`
}

/** Below a file or a closed folder nothing can be read: the entry above it gives the reason. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function codeAt(path: string): string | undefined {
  try {
    statSync(path)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Returns the path itself, or the nearest folder above it that exists. */
export function nearest(path: string): string {
  let above = resolve(path)
  while (!existsSync(above)) above = dirname(above)
  return above
}

/** Returns the path that links lead to; an open pipe of a process has none. */
function resolvePath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
