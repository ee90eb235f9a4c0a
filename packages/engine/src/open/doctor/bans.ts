import { type Dns, fetchText } from '@sallyport/core'
import { createCrowdsecApi } from '../bans/crowdsec-api.ts'
import { reachHelper } from '../bans/helper-lines.ts'
import type { Config } from '../config/schema.ts'
import { createOutbound, type Outbound } from '../outbound.ts'
import { type CheckResult, failNow, ok, reasonOf } from './finding.ts'

const ASK_MS = 5_000
const ASKED_BYTES = 2 ** 20
/** An address of documents (RFC 5737): nobody has decided anything about it. */
const NOBODY = '192.0.2.1'

/** Whether those that carry bans out, and CrowdSec as a list, can be reached; nothing is sent to them. */
export async function examineBans(config: Config, dns: Dns): Promise<readonly CheckResult[]> {
  const { nftables, crowdsec } = config.bans.export
  const { feeds } = createOutbound(config, { dns })
  const lists = Object.entries(config.lists).flatMap(([name, list]) =>
    'crowdsec' in list ? [examineList(name, list, feeds)] : [],
  )
  return Promise.all([
    ...(nftables === undefined ? [] : [examineHelper(nftables)]),
    ...(crowdsec === undefined ? [] : [examineMachine(crowdsec, feeds)]),
    ...lists,
  ])
}

async function examineHelper(path: string): Promise<CheckResult> {
  const key = ['bans', 'export', 'nftables']
  try {
    await reachHelper(path)
    return ok(`sallyport-nft listens at ${path}.`)
  } catch (error) {
    return failNow(`${reasonOf(error)}.`, 'Start sallyport-nft, in a group of the user who runs Sallyport.', key)
  }
}

async function examineMachine(
  machine: NonNullable<Config['bans']['export']['crowdsec']>,
  feeds: Outbound['feeds'],
): Promise<CheckResult> {
  const fault = await createCrowdsecApi(machine, feeds, AbortSignal.timeout(ASK_MS)).signIn()
  if (fault === undefined) return ok(`CrowdSec at ${hostOf(machine.url)} knows the machine ${machine.machine}.`)
  return notTaken(machine.url, fault.reason, ['bans', 'export', 'crowdsec'])
}

async function examineList(
  name: string,
  { crowdsec, key }: { readonly crowdsec: string; readonly key: string },
  feeds: Outbound['feeds'],
): Promise<CheckResult> {
  const answer = await fetchText(feeds, {
    // The stream counts what was sent to a key, and is left alone.
    url: `${crowdsec.replace(/\/$/, '')}/v1/decisions?ip=${NOBODY}`,
    headers: { 'x-api-key': key },
    maxBytes: ASKED_BYTES,
    timeoutMs: ASK_MS,
  })
  if (answer.state === 'answered' && answer.status === 200) {
    return ok(`CrowdSec at ${hostOf(crowdsec)} knows the key of the list ${name}.`)
  }
  const reason = answer.state === 'failed' ? answer.reason : `the key is answered with ${answer.status}`
  return notTaken(crowdsec, reason, ['lists', name])
}

function notTaken(url: string, reason: string, path: readonly string[]): CheckResult {
  return failNow(
    `CrowdSec at ${hostOf(url)} cannot be used: ${reason}.`,
    'cscli machines list and cscli bouncers list show whom it knows; an address inside needs net.allowPrivate.',
    path,
  )
}

function hostOf(url: string): string {
  return new URL(url).host
}
