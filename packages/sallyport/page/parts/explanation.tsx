import type { Got } from '../api.ts'
import { count, moment, word } from '../words.ts'
import { Shown, useLoad } from './load.tsx'
import { NextSteps } from './next-steps.tsx'
import { Badge, Empty, Facts } from './pieces.tsx'

type Whole = Got<`requests/${string}`>

/** Shows all that is known about one request, and the reasons for its decision. */
export function Explanation({ id }: { id: string }) {
  const loaded = useLoad(`requests/${encodeURIComponent(id)}`)
  return <Shown loaded={loaded}>{(whole) => <Explained {...whole} />}</Shown>
}

function Explained({ observed, facts, signals }: Whole) {
  const { decision } = observed
  return (
    <div class="explanation">
      {decision === undefined ? (
        <p>
          There was no decision:{' '}
          {observed.refusedFor ? `refused for ${observed.refusedFor}` : `answered by ${observed.answeredBy}`}.
        </p>
      ) : (
        <>
          <p class="verdict">
            <Badge name={decision.action} />{' '}
            {!decision.enforced && <Badge name="monitor">recorded, not enforced</Badge>}
          </p>
          <Facts rows={facts} />
          <NextSteps decision={decision} />
          <h3>Signals</h3>
          <Signals signals={signals} />
        </>
      )}
      <h3>Request</h3>
      <Facts
        rows={[
          ['Request', <code key="r">{`${observed.method} ${observed.host}${observed.path}`}</code>],
          ['Also read as', decision?.inspection.request.readings?.filter((path) => path !== observed.path).join('  ')],
          ['Peer', observed.peer],
          ['User agent', observed.userAgent && <span class="code">{observed.userAgent}</span>],
          ['JA4', decision === undefined && observed.ja4 && <code>{observed.ja4}</code>],
          ['Answer', `${observed.status === 0 ? 'none, the client left' : observed.status} by ${observed.answeredBy}`],
          ['Challenge', observed.challenge && challengeText(observed.challenge)],
          ['At', moment(observed.at)],
          ['Took', `${observed.milliseconds.toFixed(1)} ms${formatInspected(observed.inspectionMilliseconds)}`],
          [
            'Bytes',
            observed.bytesSent !== undefined &&
              `${count(observed.bytesReceived ?? 0)} in, ${count(observed.bytesSent)} out`,
          ],
          ['Id', <code key="i">{observed.id}</code>],
        ]}
      />
    </div>
  )
}

/** Writes `solved, level 2, after 0.4 s`. */
function challengeText({ outcome, level, seconds }: NonNullable<Whole['observed']['challenge']>): string {
  const parts = [
    level === undefined ? '' : `, level ${level}`,
    seconds === undefined ? '' : `, after ${seconds.toFixed(1)} s`,
  ]
  return word(outcome) + parts.join('')
}

function formatInspected(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '' : `, decided after ${milliseconds.toFixed(2)} ms`
}

/** Lists signals: a positive weight is evidence of a program, a negative weight of a person. */
function Signals({ signals }: Pick<Whole, 'signals'>) {
  if (signals.length === 0) return <Empty>There are no signals.</Empty>
  return (
    <ul class="signals">
      {signals.map(([weight, text]) => (
        <li key={text}>
          <span class={weight.startsWith('-') ? 'weight for' : 'weight against'}>{weight || 'decides'}</span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}
