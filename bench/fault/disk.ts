import { spawnSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Measured } from '../promises.ts'
import { runCommand } from '../proxy/sallyport.ts'
import { openGate, type Told } from './gate.ts'
import { repeat } from './proxy/left-behind.ts'
import { scratch } from './scratch.ts'

const MAY = 'unshare -m sh -c "mount -t tmpfs tmpfs /mnt"'
/** Why no small disk can be made here, where no other process sees it. */
export const NO_NAMESPACE: string | false =
  spawnSync('sh', ['-c', MAY]).status === 0 ? false : 'this user may not mount a small disk in a namespace'

const DISK = 'mount -t tmpfs -o size=48m tmpfs "$0" && exec "$@"'
const LEFT_BYTES = 1 << 20
const MAX_CALLS = 20_000
const RECOVERS_MS = 5_000

/** The disk of the dataDir fills up while records are appended, and has room again. */
export function faultDisk(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const under = (dataDir: string) => ['unshare', '-m', 'sh', '-c', DISK, dataDir]
    const gate = await openGate(folder, cleanup, { under })
    // The disk of the proxy, seen from here.
    const disk = join(`/proc/${gate.proxy.pid}/root`, gate.dataDir)
    const first = await gate.attest()
    const ballast = join(disk, 'ballast')
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - LEFT_BYTES))
    const given = first.id === undefined ? [] : [first.id]
    let refused = 0
    const others = new Map<number, number>()
    const take = ({ status, id }: Told): void => {
      if (id !== undefined) given.push(id)
      else if (status === 503) refused++
      else others.set(status, (others.get(status) ?? 0) + 1)
    }
    let calls = 0
    for (; refused === 0 && calls < MAX_CALLS; calls += 200) {
      await repeat(200, 16, async () => take(await gate.attest()))
    }
    const full: Told[] = []
    const broken: string[] = []
    for (let call = 0; call < 20; call++) {
      take(await gate.attest())
      full.push(await gate.visit(), await gate.lookUp())
    }
    if (full.some(({ status }) => status !== 200)) {
      broken.push(`with a full disk others get ${[...new Set(full.map(({ status }) => status))].join(', ')}`)
    }
    rmSync(ballast)
    const room = performance.now()
    let after = await gate.attest()
    while (after.status !== 200 && performance.now() < room + 4 * RECOVERS_MS) {
      await delay(50)
      after = await gate.attest()
    }
    const recovered = Math.round(performance.now() - room)
    take(after)
    // SQLite follows links, out of the namespace: it is looked at from within.
    const { fault, records } = JSON.parse(
      await runCommand(['ledger', 'verify', '--json', '--config', gate.proxy.file], {
        under: ['nsenter', '-m', '-t', String(gate.proxy.pid)],
      }),
    )
    if (refused === 0) broken.push('the disk was never full')
    if (others.size > 0) broken.push(`also answered: ${[...others.keys()].join(', ')}`)
    if (recovered > RECOVERS_MS) broken.push(`not back within ${RECOVERS_MS} ms`)
    if (fault !== undefined) broken.push('the chain is broken')
    if (given.some((id) => id > records)) broken.push('a record that was acknowledged is lost')
    return {
      measured: `${given.length} acknowledged and ${records} kept, ${refused} times 503, back ${recovered} ms after there was room`,
      broken,
    }
  })
}
