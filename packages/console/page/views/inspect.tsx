import { Empty, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Facts } from '../parts/pieces.tsx'
import { type SystemEntry, SystemFacts } from '../parts/system.tsx'
import { WorldMap } from '../parts/world.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { count, country, word } from '../words.ts'

interface Geo {
  readonly ip: string
  readonly country?: string
  readonly countryCode?: string
  readonly city?: string
  readonly region?: string
  readonly postalCode?: string
  readonly latitude?: number
  readonly longitude?: number
  readonly timezone?: string
  readonly accuracyRadius?: number
}

interface InspectAnswer {
  readonly result: {
    readonly target: { readonly type?: string; readonly ip?: string; readonly input?: string }
    readonly reserved: { readonly reserved: boolean; readonly label?: string; readonly detail?: string }
    readonly verdict: {
      readonly classification: string
      readonly anonymized: boolean
      readonly confidence: number
      readonly method: string
    }
    readonly purity: {
      readonly score: number
      readonly grade: string
      readonly verdict: string
      readonly deductions: readonly { readonly factor: string; readonly points: number; readonly detail: string }[]
    }
    readonly provider: string
    readonly riskScore: number
    readonly networkType: string
    readonly geo: Geo
    readonly asn: { readonly asn?: string; readonly name?: string; readonly country?: string }
    readonly whois?: Whois
    readonly degraded: readonly string[]
    readonly at: string
  }
  readonly finding: {
    readonly rule: string
    readonly source?: string
    readonly sourceDate?: string
    readonly agreeing: readonly string[]
  } | null
  readonly system: SystemEntry | null
  readonly seen: { readonly requests: number; readonly last: string | null } | null
}

interface Whois {
  readonly domain: string
  readonly registrar?: string
  readonly registeredOn?: string
  readonly expiresOn?: string
  readonly lastUpdated?: string
  readonly nameservers: readonly string[]
  readonly status: readonly string[]
  readonly privacyProtection: boolean
}

const EXAMPLES = ['185.220.101.10', '5.9.10.20', '2001:db8::1', '1.1.1.0/24']

/** All that is known of an address, a network, a name or a URL. */
export function Inspect() {
  const target = place.value.query.get('target') ?? ''
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    goTo('inspect', { target: String(new FormData(event.currentTarget as HTMLFormElement).get('target') ?? '').trim() })
  }
  return (
    <>
      <form class="ask" onSubmit={submit} key={target}>
        <label>
          Address, CIDR, hostname or URL
          <input name="target" defaultValue={target} required maxLength={2_048} spellcheck={false} autocomplete="off" />
        </label>
        <button type="submit">Inspect</button>
      </form>
      {target === '' ? (
        <Empty>
          For example{' '}
          {EXAMPLES.map((example) => (
            <span key={example}>
              <a href={linkTo('inspect', { target: example })}>{example}</a>{' '}
            </span>
          ))}
        </Empty>
      ) : (
        <Answer target={target} />
      )}
    </>
  )
}

function Answer({ target }: { target: string }) {
  const loaded = useLoad<InspectAnswer>(`inspect?${new URLSearchParams({ target })}`)
  return (
    <Shown loaded={loaded}>
      {({ result, finding, system, seen }) => (
        <div class="grid">
          <VerdictCard result={result} finding={finding} seen={seen} />
          <Card title="Purity" aside={`risk score ${result.riskScore}`}>
            <Purity purity={result.purity} />
          </Card>
          <Card title="Autonomous system">
            {system === null ? (
              <Empty>{result.reserved.reserved ? 'A reserved address is in none.' : 'None that the data knows.'}</Empty>
            ) : (
              <SystemFacts entry={system} />
            )}
          </Card>
          <Place geo={result.geo} isReserved={result.reserved.reserved} isDegraded={result.degraded.includes('geo')} />
          <Registration whois={result.whois} isDegraded={result.degraded.includes('whois')} />
        </div>
      )}
    </Shown>
  )
}

function VerdictCard({ result, finding, seen }: Pick<InspectAnswer, 'result' | 'finding' | 'seen'>) {
  const { verdict, reserved, target, provider, degraded } = result
  return (
    <Card title="Verdict" aside={<a href={linkTo('inspect', { target: target.ip ?? '' })}>{target.ip}</a>}>
      <p class="verdict">
        <Badge name={verdict.classification} /> {verdict.anonymized && <Badge name="flag">anonymised</Badge>}
      </p>
      <Facts
        rows={[
          ['Confidence', verdict.confidence.toFixed(2)],
          ['Because', finding && `${finding.rule.replaceAll('_', ' ')} (${verdict.method})`],
          ['Provider', provider],
          ['Source', finding?.source && `${finding.source}${finding.sourceDate ? ` of ${finding.sourceDate}` : ''}`],
          ['Also said by', finding?.agreeing.join(', ')],
          ['Reserved', reserved.reserved && `${reserved.label}: ${reserved.detail ?? ''}`],
          [
            'Here',
            seen && (
              <>
                {count(seen.requests)} of the remembered requests{' '}
                {seen.last !== null && <a href={linkTo('request', { id: seen.last })}>the last one</a>}
              </>
            ),
          ],
        ]}
      />
      {degraded.length > 0 && (
        <p class="failure">
          Not whole: {degraded.map((part) => word(part)).join(', ')} could not be looked at. What is missing is not
          known, which is not "no".
        </p>
      )}
    </Card>
  )
}

/** From 100 down, a step for each deduction. */
function Purity({ purity }: { purity: InspectAnswer['result']['purity'] }) {
  const { score, grade, verdict, deductions } = purity
  return (
    <>
      <p class="verdict">
        <strong class="grade">{grade}</strong> <span>{score} of 100</span>{' '}
        <Badge name={verdict === 'clean' ? 'ok' : verdict === 'dirty' ? 'fail' : 'warn'}>{verdict}</Badge>
      </p>
      <meter min={0} max={100} low={46} high={85} optimum={100} value={score} aria-label="Purity" />
      {deductions.length === 0 ? (
        <p class="quiet">Nothing is deducted.</p>
      ) : (
        <ul class="signals">
          {deductions.map(({ factor, points, detail }) => (
            <li key={factor}>
              <span class="weight against">{points}</span>
              <span>{detail}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Place({ geo, isReserved, isDegraded }: { geo: Geo; isReserved: boolean; isDegraded: boolean }) {
  const { latitude, longitude, countryCode, city, region, postalCode, timezone, accuracyRadius } = geo
  const point = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude }
  const named = [city, region, countryCode && country(countryCode)].filter((part) => part !== undefined)
  return (
    <Card title="Place" wide>
      {isReserved ? (
        <Empty>A reserved address is nowhere.</Empty>
      ) : (
        <div class="world">
          <WorldMap
            label={named.length === 0 ? 'No place is known' : `Place: ${named.join(', ')}`}
            counts={countryCode === undefined ? {} : { [countryCode]: 1 }}
            {...(point && { point })}
          />
          {named.length === 0 ? (
            <Empty>{isDegraded ? 'Places could not be looked at.' : 'No place is known.'}</Empty>
          ) : (
            <Facts
              rows={[
                ['Country', countryCode && `${country(countryCode)} (${countryCode})`],
                ['Region', region],
                ['City', city],
                ['Postal code', postalCode],
                ['Time zone', timezone],
                ['Within', accuracyRadius && `${accuracyRadius} km`],
                ['At', point && `${point.latitude}, ${point.longitude}`],
              ]}
            />
          )}
        </div>
      )}
    </Card>
  )
}

function Registration({ whois, isDegraded }: { whois: Whois | undefined; isDegraded: boolean }) {
  if (whois === undefined && !isDegraded) return null
  return (
    <Card title="Registration">
      {whois === undefined ? (
        <Empty>The registry gave no answer.</Empty>
      ) : (
        <Facts
          rows={[
            ['Domain', whois.domain],
            ['Registrar', whois.registrar],
            ['Registered', whois.registeredOn],
            ['Changed', whois.lastUpdated],
            ['Expires', whois.expiresOn],
            ['Name servers', whois.nameservers.join(', ')],
            ['Status', whois.status.join(', ')],
            ['Registrant', whois.privacyProtection && 'hidden'],
          ]}
        />
      )}
    </Card>
  )
}
