import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { openLedgerTools } from '@sallyport/engine'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { isInstalled } from '../proxy/program.ts'
import { openGate } from './gate.ts'
import { repeat } from './proxy/left-behind.ts'
import { scratch } from './scratch.ts'

export const NO_FIU: string | false = isInstalled('fiu-run') ? false : 'libfiu is not installed (fiu-utils)'

const CALLS = numberFlag('failing-calls', 6_000)
const FAILING = ['posix/io/sync/fsync', 'posix/io/sync/fdatasync', 'posix/io/rw/pwrite', 'posix/io/rw/pwrite64']

/** The disk fails now and then while records are appended, by libfiu below the process. */
export function faultSyncs(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const control = join(folder, 'fiu')
    const gate = await openGate(folder, cleanup, { under: () => ['fiu-run', '-x', '-f', control] })
    const steer = (command: string) => execFileSync('fiu-ctrl', ['-f', control, '-c', command, String(gate.proxy.pid)])
    await gate.attest()
    for (const name of FAILING) steer(`enable_random name=${name},probability=0.02`)
    const given: number[] = []
    const statuses = new Map<number, number>()
    await repeat(CALLS, 16, async () => {
      const { status, id } = await gate.attest()
      if (id !== undefined) given.push(id)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    for (const name of FAILING) steer(`disable name=${name}`)
    const after = await gate.attest()
    const ledger = await openLedgerTools({ dataDir: gate.dataDir })
    const { fault, records } = await ledger.verify()
    await ledger.close()
    const others = [...statuses.keys()].filter((status) => status !== 200 && status !== 503)
    return {
      measured: `${given.length} acknowledged, ${statuses.get(503) ?? 0} times 503, ${records} kept`,
      broken: [
        ...(statuses.get(503) === undefined ? ['nothing failed'] : []),
        ...(others.length > 0 ? [`also answered: ${others.join(', ')}`] : []),
        ...(after.status === 200 ? [] : [`after it ${after.status}`]),
        ...(fault === undefined ? [] : ['the chain is broken']),
        ...(new Set(given).size < given.length ? ['an id was given twice'] : []),
        ...(given.some((id) => id > records) ? ['a record that was acknowledged is lost'] : []),
      ],
    }
  })
}
