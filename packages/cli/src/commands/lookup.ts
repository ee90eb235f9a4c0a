import type { LookupResult, NetworkFinding } from '@sallyport/core'
import type { Sallyport } from '@sallyport/open'
import type { Command } from 'commander'
import { sourceText } from '../explanation.ts'
import { type CommonOptions, configOf, jsonOption, openOnce, using, withCommonOptions } from '../settings.ts'
import { creditLines } from '../sources.ts'
import { bold, columns, dim, json, type Terminal } from '../terminal.ts'

/** `sallyport lookup TARGET` */
export function addLookupCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('lookup').description('what is known of an address, a range, a hostname or a URL'))
    .argument('<target>')
    .addOption(jsonOption())
    .action(async (target: string, options: CommonOptions & { readonly json?: true }) => {
      const [result, network, credits] = await using(openOnce(configOf(options), terminal), async (sallyport) => {
        const result = await sallyport.lookup(target)
        return [result, findingOf(sallyport, result.target.ip), creditLines(sallyport.sources())] as const
      })
      if (options.json) return terminal.out(json(result))
      terminal.out(bold(target))
      terminal.out(columns(rowsOf(result, network)))
      for (const credit of credits) terminal.out(dim(credit))
    })
}

/** The verdict with its evidence, which the specified answer has no place for. */
function findingOf(sallyport: Sallyport, peer: string | undefined): NetworkFinding | undefined {
  if (peer === undefined) return undefined
  const request = { peer, method: 'GET', target: '/', scheme: 'unknown', httpVersion: '', fields: [] } as const
  return sallyport.inspect(request).network
}

/** The rule that matched, its source and date, and the other sources that agree. */
function grounds(finding: NetworkFinding | undefined): string | undefined {
  if (finding?.source === undefined) return undefined
  const { rule, source, sourceDate, agreeing } = finding
  const also = agreeing.length === 0 ? '' : `; ${agreeing.join(', ')} ${agreeing.length === 1 ? 'agrees' : 'agree'}`
  return `${rule}, ${sourceText(source, sourceDate)}${also}`
}

function rowsOf(result: LookupResult, finding: NetworkFinding | undefined): readonly (readonly [string, string])[] {
  const { target, reserved, verdict, purity, provider, riskScore, geo, asn, whois, degraded } = result
  const place = [geo.city, geo.region, geo.country].filter((part) => part !== undefined).join(', ')
  const network = [asn.asn, asn.name, asn.type === 'unknown' ? undefined : `(${asn.type})`]
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['address', target.ip],
    ['reserved', reserved.reserved ? `${reserved.label}: ${reserved.detail}` : undefined],
    ['network', network.filter((part) => part !== undefined).join(' ')],
    ['verdict', `${verdict.classification} by ${verdict.method}, confidence ${verdict.confidence}`],
    ['known by', grounds(finding)],
    ['provider', provider],
    ['place', place],
    ['purity', `${purity.score}/100 (${purity.grade}, ${purity.verdict})`],
    ['risk', `${riskScore}/100`],
    ['domain', whois?.domain],
    ['registrar', whois?.registrar],
    ['registered', whois?.registeredOn],
    ['updated', whois?.lastUpdated],
    ['expires', whois?.expiresOn],
    ['nameservers', whois?.nameservers.join(', ')],
    ['status', whois?.status.join(', ')],
    ['registrant', whois?.privacyProtection ? 'hidden by a privacy service or the registry' : undefined],
    ['degraded', degraded.join(', ')],
  ]
  return rows.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[dim(name), value] as const]))
}
