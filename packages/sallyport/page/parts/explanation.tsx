import type { Got } from '../api.ts'
import { linkTo } from '../route.ts'
import { age, count, country as countryName, moment, word } from '../words.ts'
import { Empty, Shown, useLoad } from './load.tsx'
import { NextSteps } from './next-steps.tsx'
import { Badge, Facts } from './pieces.tsx'

type Whole = Got<`requests/${string}`>
type Decision = NonNullable<Whole['observed']['decision']>

const VIA: Readonly<Record<Decision['inspection']['client']['via'], string>> = {
  peer: 'the address of the connection',
  header: 'the client header, from a trusted proxy',
  none: 'none could be found',
}

/** Everything that is known of one request, and why it was decided so. */
export function Explanation({ id }: { id: string }) {
  const loaded = useLoad(`requests/${encodeURIComponent(id)}`)
  return <Shown loaded={loaded}>{(whole) => <Explained {...whole} />}</Shown>
}

function Explained({ observed, knownBy }: Whole) {
  const { decision } = observed
  return (
    <div class="explanation">
      {decision === undefined ? (
        <p>
          Nothing was decided:{' '}
          {observed.refusedFor ? `it was refused for ${observed.refusedFor}` : `answered by ${observed.answeredBy}`}.
        </p>
      ) : (
        <Why decision={decision} />
      )}
      <h3>Request</h3>
      <Facts
        rows={[
          ['Request', <code key="r">{`${observed.method} ${observed.host}${observed.path}`}</code>],
          ['Also read as', decision?.inspection.request.readings?.filter((path) => path !== observed.path).join('  ')],
          ['User agent', observed.userAgent && <span class="code">{observed.userAgent}</span>],
          ['JA4', observed.ja4 && <code>{observed.ja4}</code>],
          ['Answer', `${observed.status === 0 ? 'none, the client left' : observed.status} by ${observed.answeredBy}`],
          ['Challenge', observed.challenge && challengeText(observed.challenge)],
          ['At', moment(observed.at)],
          ['Took', `${observed.milliseconds.toFixed(1)} ms${inspected(observed.inspectionMilliseconds)}`],
          [
            'Bytes',
            observed.bytesSent !== undefined &&
              `${count(observed.bytesReceived ?? 0)} in, ${count(observed.bytesSent)} out`,
          ],
          ['Id', <code key="i">{observed.id}</code>],
        ]}
      />
      {decision && <NextSteps decision={decision} />}
      {decision && <Visitor decision={decision} knownBy={knownBy} peer={observed.peer} />}
    </div>
  )
}

/** `solved, level 2, after 0.4 s` */
function challengeText({ outcome, level, seconds }: NonNullable<Whole['observed']['challenge']>): string {
  const parts = [
    level === undefined ? '' : `, level ${level}`,
    seconds === undefined ? '' : `, after ${seconds.toFixed(1)} s`,
  ]
  return word(outcome) + parts.join('')
}

function inspected(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '' : `, decided after ${milliseconds.toFixed(2)} ms`
}

function Why({ decision }: { decision: Decision }) {
  const { action, enforced, trial, reasons, limits = [], attestation, ban } = decision
  return (
    <>
      <p class="verdict">
        <Badge name={action} /> {!enforced && <Badge name="monitor">recorded, not carried out</Badge>}
        <span>{reasons[0]?.text}</span>
      </p>
      {trial && (
        <p>
          On trial: the rule <code>{trial.rule}</code> would have <Badge name={trial.action} /> it.
        </p>
      )}
      {attestation && (
        <p>
          Attestation {attestation.id}: claims {attestation.claim}, {attestation.action} ({attestation.reason}).
        </p>
      )}
      {ban && (
        <p>
          <a href={linkTo('bans')}>Lift the ban</a>, which takes its strikes away.
        </p>
      )}
      {limits.length > 0 && (
        <>
          <h3>Limits</h3>
          <ul class="plain-list">
            {limits.map((use) => (
              <li key={use.rule}>
                <code>{use.rule}</code> {use.used} of {use.max}
                {use.windowMs === undefined ? ' in flight' : ` in ${use.windowMs / 1_000} s`}
                {use.exceeded && <Badge name={use.action}> beyond</Badge>}
                {use.onTrial && ' (on trial)'}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function Visitor({ decision, knownBy, peer }: { decision: Decision; knownBy: string | undefined; peer: string }) {
  const { client, network, agent, crawler, country, degraded, user, plan, pass } = decision.inspection
  const { verdict } = network
  return (
    <>
      <h3>Client</h3>
      <Facts
        rows={[
          ['Address', client.address && <a href={linkTo('inspect', { target: client.address })}>{client.address}</a>],
          ['Found by', `${VIA[client.via]}${client.malformed ? '; a part of the header could not be read' : ''}`],
          ['Peer', peer],
          ['User', user],
          ['Plan', plan],
          ['Pass', pass ? `level ${pass.level}, ${age(pass.age)} old` : 'none'],
        ]}
      />
      <h3>Network</h3>
      <Facts
        rows={[
          ['Class', <Badge key="c" name={verdict.classification} />],
          ['Confidence', verdict.confidence.toFixed(2)],
          ['Because', `${network.rule.replaceAll('_', ' ')} (${verdict.method})`],
          [
            'Operator',
            [network.asn && `AS${network.asn}`, network.asName, network.provider].filter(Boolean).join(' · '),
          ],
          ['Country', country && `${countryName(country)} (${country})`],
          ['Source', network.source && `${network.source}${network.sourceDate ? ` of ${network.sourceDate}` : ''}`],
          ['Also said by', network.agreeing.join(', ')],
          ['Reserved', network.reserved.reserved && network.reserved.label],
        ]}
      />
      <h3>Who asks</h3>
      <Facts
        rows={[
          ['Class', <Badge key="a" name={agent.class} />],
          ['Confidence', agent.confidence.toFixed(2)],
          ['Bot probability', agent.botProbability.toFixed(2)],
          ['Known by', knownBy],
          [
            'Identity',
            agent.identity && `${agent.identity.name} (${agent.identity.verified ? 'verified' : 'only said'})`,
          ],
          ['AI', agent.ai && `${agent.ai.name} of ${agent.ai.vendor}`],
          ['Headless', agent.headless && 'by what it says itself'],
          ['Headers', agent.headerConsistency === undefined ? 'not known' : `consistency ${agent.headerConsistency}`],
          ['Claims to be', crawler && `${crawler.name} of ${crawler.operator}`],
          [
            'Claim',
            crawler && (
              <Badge name={crawler.outcome}>
                {crawler.outcome}
                {crawler.pending ? ', being asked' : ''}
              </Badge>
            ),
          ],
          ['Which is', crawler?.summary],
        ]}
      />
      <h3>Signals</h3>
      <Signals reasons={agent.reasons} />
      {degraded.length > 0 && (
        <p class="quiet">Not known because data is missing or past its age: {degraded.join(', ')}.</p>
      )}
    </>
  )
}

/** The signals by weight: to the right speaks for a program, to the left for a person. */
function Signals({ reasons }: Pick<Decision, 'reasons'>) {
  if (reasons.length === 0) return <Empty>No signal was seen.</Empty>
  const sorted = reasons.toSorted((x, y) => Math.abs(y.weight ?? 99) - Math.abs(x.weight ?? 99))
  return (
    <ul class="signals">
      {sorted.map(({ id, text, weight }) => (
        <li key={id}>
          <span class={(weight ?? 1) > 0 ? 'weight against' : 'weight for'}>
            {weight === undefined ? 'decides' : `${weight > 0 ? '+' : ''}${weight.toFixed(1)}`}
          </span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

export function classText(name: string | undefined): string {
  return name === undefined ? '' : word(name)
}
