import type { Got } from '../api.ts'
import { linkTo } from '../route.ts'
import { ruleFor } from '../rule-text.ts'
import { clipped } from '../words.ts'
import { CopyButton } from './copy.tsx'

type Decision = NonNullable<Got<`requests/${string}`>['observed']['decision']>

/** Rules that a request suggests: to be copied, or tried in the draft on what is remembered of the last day. */
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
            <a href={linkTo('policy', { add: rule })}>Try it on the last day</a>
            <CopyButton text={rule}>Copy the rule</CopyButton>
          </li>
        ))}
        {address && (
          <li>
            <a href={linkTo('inspect', { target: address })}>Inspect {address}</a>
          </li>
        )}
        {ban && (
          <li>
            <a href={linkTo('bans')}>Lift the ban</a>, which takes its strikes away.
          </li>
        )}
      </ul>
    </>
  )
}
