import { createHash } from 'node:crypto'
import { errorText } from '@sallyport/core'
import { type CheckResult, fail, failNow, type Outbound, ok } from '#service'
import type { LocatedFault } from '#settings'
import { type AskPorts, askAuthority, nameAuthority, nameWitness, openReader } from './ask-authority.ts'
import type { NamedWitness } from './ask-witness.ts'
import type { AnchorConfig } from './keys.ts'

/** Finds keys that have no effect. */
export function anchorWarnings({ ledger, net }: AnchorConfig): readonly LocatedFault[] {
  const { timestamps, timestampCa, witnesses } = ledger
  const unused = 'has no effect without ledger.timestamps. Add an authority there'
  const closed = 'has no effect, because net.outbound is false. Remove one of them'
  return [
    ...(timestampCa !== undefined && timestamps.length === 0
      ? [{ path: ['ledger', 'timestampCa'], message: unused }]
      : []),
    ...Object.entries({ timestamps, witnesses }).flatMap(([key, asked]) =>
      net.outbound || asked.length === 0 ? [] : [{ path: ['ledger', key], message: closed }],
    ),
  ]
}

/** Examines whether each authority of time stamps a text as it should, and each witness answers. */
export async function examineAnchors(config: AnchorConfig, outbound: Outbound): Promise<readonly CheckResult[]> {
  const { timestamps, witnesses } = config.ledger
  if (timestamps.length + witnesses.length === 0)
    return [ok('No timestamp authority is configured, so times in evidence rely on this service alone.')]
  if (!config.net.outbound) return []
  const ports = { fetch: outbound.feeds, now: Date.now }
  const stamps = timestamps.length === 0 ? [] : await examineAuthorities(config, ports)
  return [...stamps, ...(await Promise.all(witnesses.map((named, at) => examineWitness(named, at, ports))))]
}

async function examineAuthorities(config: AnchorConfig, ports: AskPorts): Promise<readonly CheckResult[]> {
  let reader: Awaited<ReturnType<typeof openReader>>
  try {
    reader = await openReader(config)
  } catch (error) {
    const isPackage = error instanceof Error && error.name === 'LibraryMissing'
    const advice = isPackage ? 'npm install pkijs asn1js' : 'Use a file with the certificates of the authorities.'
    return [
      fail(`${errorText(error).replace(/\.$/, '')}.`, advice, ['ledger', isPackage ? 'timestamps' : 'timestampCa']),
    ]
  }
  return Promise.all(
    config.ledger.timestamps.map(async (url, at): Promise<CheckResult> => {
      const answer = await askAuthority(url, Buffer.from('sallyport doctor\n'), reader, ports)
      if (answer.state === 'stamped') return ok(`${nameAuthority(url)} issues timestamps as ${answer.signer}.`)
      const advice =
        answer.state === 'refused'
          ? 'Evidence gets no timestamp from it. Use another authority, or set ledger.timestampCa to its certificates.'
          : 'Check its URL, and whether this machine may connect. Records are kept and stamped later.'
      return failNow(`${nameAuthority(url)} does not work: ${answer.reason}.`, advice, ['ledger', 'timestamps', at])
    }),
  )
}

/** A checkpoint of a log that no witness knows: one that is well answers so, and cosigns nothing. */
const UNKNOWN = `sallyport/doctor\n0\n${createHash('sha256').digest('base64')}\n\n\u2014 sallyport ${Buffer.alloc(68).toString('base64')}\n`

async function examineWitness(named: NamedWitness, at: number, ports: AskPorts): Promise<CheckResult> {
  const name = nameWitness(named.vkey)
  const { askWitness } = await import('./ask-witness.ts')
  const failed = (error: unknown) => ({ state: 'failed' as const, reason: errorText(error) })
  const answer = await askWitness(named, UNKNOWN, { from: 0, prove: async () => [] }, ports).catch(failed)
  if (answer.state === 'unknown') return ok(`${name} works as a witness.`)
  const reason = answer.state === 'stamped' ? 'it cosigns a log that it does not know' : answer.reason
  const advice = 'Check its URL, and whether this machine may connect. Records are kept and cosigned later.'
  return failNow(`${name} does not work as a witness: ${reason}.`, advice, ['ledger', 'witnesses', at])
}
