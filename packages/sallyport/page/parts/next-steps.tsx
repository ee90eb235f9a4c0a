import type { Got } from '../api.ts'
import { linkTo } from '../route.ts'
import { ruleFor } from '../rule-text.ts'
import { clipped } from '../words.ts'
import { CopyButton } from './buttons.tsx'

type Decision = NonNullable<Got<`requests/${string}`>['observed']['decision']>

/** Shows rules that a request suggests, to copy, or to try in the draft on the requests remembered of the last day. */
export function NextSteps({ decision: { inspection, ban } }: { decision: Decision }) {
  const { address } = inspection.client
  const { asn, asName } = inspection.network
  const steps = [
    address && { title: `Allow ${address}`, rule: ruleFor('allow', `address: ['${address}']`, address) },
    asn && {
      title: `Block AS${asn} ${clipped(asName ?? '')}`.trim(),
      rule: ruleFor('block', `asn: [${asn}]`, `as${asn}`),
    },
  ].filter((step) => typeof step === 'object')
  if (steps.length === 0 && ban === undefined) return null
  return (
    <>
      <h3>Next steps</h3>
      <ul class="plain-list">
        {steps.map(({ title, rule }) => (
          <li key={title} class="actions">
            <strong>{title}</strong>
            <a href={linkTo('policy', { add: rule })}>Test on recent requests</a>
            <CopyButton text={rule}>Copy rule</CopyButton>
          </li>
        ))}
        {address && (
          <li>
            <a href={linkTo('inspect', { target: address })}>Inspect {address}</a>
          </li>
        )}
        {ban && (
          <li>
            <a href={linkTo('bans')}>Lift the ban</a> and reset its strikes.
          </li>
        )}
      </ul>
    </>
  )
}
