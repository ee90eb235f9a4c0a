import type { Got } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Empty, Facts } from '../parts/pieces.tsx'
import { SystemFacts } from '../parts/system.tsx'
import { WorldMap } from '../parts/world.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { country, word } from '../words.ts'

type Result = Got<'inspect'>['result']

const EXAMPLES = ['185.220.101.10', '5.9.10.20', '2001:db8::1', '1.1.1.0/24']

/** Shows all that is known about an address, a network, a name or a URL. */
export function Inspect() {
  const target = place.value.query.get('target') ?? ''
  return (
    <>
      <Ask
        label="Address, CIDR, hostname or URL"
        name="target"
        value={target}
        button="Inspect"
        onAsk={(asked) => goTo('inspect', asked)}
      />
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
  const loaded = useLoad('inspect', { target })
  return (
    <Shown loaded={loaded}>
      {({ result, finding, region, system }) => (
        <div class="columns">
          <VerdictCard result={result} finding={finding} />
          <Card title="Purity" aside={`risk score ${result.riskScore}`}>
            <Purity purity={result.purity} />
          </Card>
          <Card title="Autonomous system">
            {system === null ? (
              <Empty>{result.reserved.reserved ? 'Reserved addresses have none.' : 'It is unknown.'}</Empty>
            ) : (
              <SystemFacts entry={system} />
            )}
          </Card>
          <Registration result={result} />
          <LocationCard result={result} region={region} />
        </div>
      )}
    </Shown>
  )
}

function VerdictCard({ result, finding }: Pick<Got<'inspect'>, 'result' | 'finding'>) {
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
          ['Confirmed by', finding?.agreeing.join(', ')],
          ['Reserved', reserved.reserved && `${reserved.label}: ${reserved.detail ?? ''}`],
          ['Here', target.ip && <a href={linkTo('live', { text: target.ip })}>Recent requests</a>],
        ]}
      />
      {degraded.length > 0 && (
        <p class="quiet">
          Incomplete: {degraded.map((part) => word(part)).join(', ')} could not be looked up. Missing facts are unknown,
          not negative.
        </p>
      )}
    </Card>
  )
}

/** Shows the score, which begins at 100, with each deduction. The grade is omitted: at 45 its letter says what the verdict does not. */
function Purity({ purity }: { purity: Result['purity'] }) {
  const { score, verdict, deductions } = purity
  return (
    <>
      <p class="verdict">
        <strong class="grade">{score}</strong> <span>of 100</span>{' '}
        <Badge name={verdict === 'clean' ? 'ok' : verdict === 'dirty' ? 'fail' : 'warn'}>{verdict}</Badge>
      </p>
      <meter min={0} max={100} low={46} high={85} optimum={100} value={score} aria-label="Purity" />
      {deductions.length === 0 ? (
        <p class="quiet">There are no deductions.</p>
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

function LocationCard({ result, region }: Pick<Got<'inspect'>, 'result' | 'region'>) {
  const { geo, geoSource, reserved, degraded } = result
  const { latitude, countryCode, city, region: name, accuracyRadius } = geo
  const named = [city, name, countryCode && country(countryCode)].filter((part) => part !== undefined)
  if (named.length === 0) {
    const failed = degraded.includes('geo') ? 'Locations could not be looked up.' : 'The location is unknown.'
    return (
      <Card title="Place">
        <Empty>{reserved.reserved ? 'A reserved address has no location.' : failed}</Empty>
      </Card>
    )
  }
  return (
    <Card title="Place">
      <div class="world">
        <WorldMap label={`Place: ${named.join(', ')}`} counts={countryCode ? { [countryCode]: 1 } : {}} />
        <Facts
          rows={[
            ['Country', countryCode && `${country(countryCode)} (${countryCode})`],
            ['Source', geoSource],
            ['Region', name],
            ['Region for rules', region],
            ['City', city],
            ['Postal code', geo.postalCode],
            ['Time zone', geo.timezone],
            ['Within', accuracyRadius && `${accuracyRadius} km`],
            ['Coordinates', latitude !== undefined && `${latitude}, ${geo.longitude}`],
          ]}
        />
      </div>
    </Card>
  )
}

function Registration({ result: { whois, degraded } }: Pick<Got<'inspect'>, 'result'>) {
  if (whois === undefined && !degraded.includes('whois')) return null
  return (
    <Card title="Registration">
      {whois === undefined ? (
        <Empty>The registry did not respond.</Empty>
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
