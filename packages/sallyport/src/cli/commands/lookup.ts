import {
  type InspectedRegion,
  type LookupResult,
  type NetworkFinding,
  parseAddress,
  SallyportError,
} from '@sallyport/core'
import type { Sallyport } from '@sallyport/engine'
import type { Command } from 'commander'
import { regionText, sourceText } from '#console'
import { type JsonOptions, openOnce, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { printable, printableValue } from '../terminal/printable.ts'
import { creditLines } from '../terminal/sources.ts'
import { bold, columns, dim, ExitError, json, type Terminal } from '../terminal/terminal.ts'

export function addLookupCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('lookup').description('show facts about an address, CIDR, hostname or URL'))
    .argument('<targets...>', 'one or more targets')
    .action(async (targets: readonly string[], options: JsonOptions) => {
      const { found, credits } = await using(openOnce(readConfig(options), terminal), async (sallyport) => {
        const found = await Promise.all(targets.map((target) => lookUp(sallyport, target)))
        return { found, credits: creditLines(sallyport.sources()) }
      })
      if (targets.length === 1 && found[0]?.error !== undefined) throw found[0].error
      if (options.json) {
        const results = found.map(({ result, error }) => result ?? { error: error.code, message: error.message })
        terminal.out(json(targets.length === 1 ? results[0] : results))
      } else {
        for (const { target, result, network, region, error } of found)
          if (result === undefined) terminal.err(`sallyport: ${printable(error.message)}`)
          else
            terminal.out(`${bold(printable(target))}\n${columns(listFacts(printableValue(result), network, region))}`)
        for (const credit of found.every(({ error }) => error) ? [] : credits) terminal.out(dim(credit))
      }
      if (found.some(({ error }) => error !== undefined)) throw new ExitError(1)
    })
}

/** Returns the facts about one target, or why there are none: other targets are still looked up. */
async function lookUp(sallyport: Sallyport, target: string) {
  try {
    const result = await sallyport.lookup(target)
    const { ip } = result.target
    const network = findNetwork(sallyport, ip)
    const address = ip === undefined ? undefined : parseAddress(ip)
    const region = address && network && (await sallyport.knowledge.findRegion(address, network))
    return { target, result, network, region }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const { code, message } = error
    return { target, error: new SallyportError(code, message.includes(target) ? message : `${target}: ${message}`) }
  }
}

/** Returns the verdict with its evidence, for which the specified answer has no member. */
function findNetwork(sallyport: Sallyport, peer: string | undefined): NetworkFinding | undefined {
  if (peer === undefined) return undefined
  const request = { peer, method: 'GET', target: '/', scheme: 'unknown', httpVersion: '', fields: [] } as const
  return sallyport.inspect(request).network
}

/** Describes the rule that matched, its source and date, and the other sources that agree. */
function grounds(finding: NetworkFinding | undefined): string | undefined {
  if (finding?.source === undefined) return undefined
  const { rule, source, sourceDate, agreeing } = finding
  const also = agreeing.length === 0 ? '' : `; ${agreeing.join(', ')} ${agreeing.length === 1 ? 'agrees' : 'agree'}`
  return `${rule}, ${sourceText(source, sourceDate)}${also}`
}

function listFacts(
  result: LookupResult,
  finding: NetworkFinding | undefined,
  region: InspectedRegion | undefined,
): readonly (readonly [string, string])[] {
  const { target, reserved, verdict, purity, provider, riskScore, geo, asn, whois, degraded } = result
  const place = [geo.city, geo.region, geo.country].filter(Boolean).join(', ')
  const network = [asn.asn, asn.name, asn.type === 'unknown' ? undefined : `(${asn.type})`]
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['address', target.ip],
    ['reserved', reserved.reserved ? `${reserved.label}: ${reserved.detail}` : undefined],
    ['network', network.filter(Boolean).join(' ')],
    ['verdict', `${verdict.classification} by ${verdict.method}, confidence ${verdict.confidence}`],
    ['known by', grounds(finding)],
    ['provider', provider],
    ['place', result.geoSource === undefined || place === '' ? place : `${place} (${result.geoSource})`],
    ['region', reserved.reserved || region === undefined ? undefined : regionText(region)],
    ['oldest source', result.oldest && sourceText(result.oldest.source, result.oldest.date)],
    ['purity', `${purity.score}/100 (${purity.verdict})`],
    ['risk', `${riskScore}/100`],
    ['domain', whois?.domain],
    ['registrar', whois?.registrar],
    ['registered', whois?.registeredOn],
    ['updated', whois?.lastUpdated],
    ['expires', whois?.expiresOn],
    ['nameservers', whois?.nameservers.join(', ')],
    ['status', whois?.status.join(', ')],
    ['registrant', whois?.privacyProtection ? 'redacted by a privacy service or the registry' : undefined],
    ['degraded', degraded.join(', ')],
  ]
  return rows.flatMap(([name, value]) => (value ? [[dim(name), value] as const] : []))
}
