import type { ExampleFront, Visit } from './visit.ts'
import type { ExampleVisitor } from './visitors.ts'

/** The visitors to be, and what became of the one that was chosen. */
export function visitorsPage(
  front: ExampleFront,
  chosen?: { readonly visitor: ExampleVisitor; readonly visit: Visit },
): string {
  const choices = front.visitors.map(
    ({ id, who }) =>
      `<a class="be" href="/?as=${id}"${chosen?.visitor.id === id ? ' aria-current="true"' : ''}>${escapeHtml(who)}</a>`,
  )
  const shown =
    chosen === undefined ? '<p>Choose who you are, and see what the gate makes of you.</p>' : visitPart(front, chosen)
  return `<p>A small site behind Sallyport. Come as</p><p class="who">${choices.join(' ')}</p>${shown}`
}

function visitPart(
  front: ExampleFront,
  { visitor, visit }: { readonly visitor: ExampleVisitor; readonly visit: Visit },
): string {
  const { decision, status, body, curl } = visit
  const { action } = decision
  const signals = decision.inspection.agent.reasons.map(signalOf)
  const repeat =
    visitor.sign === undefined
      ? 'The same in a terminal'
      : 'The same in a terminal: it is good once, within five minutes'
  return `<h2>You are ${escapeHtml(visitor.who)}, ${visitor.address}</h2>
${visitor.note === undefined ? '' : `<p class="note">${escapeHtml(visitor.note)}</p>`}
<div class="halves"><section><h3>What the gate decides</h3><table class="${action}">${rowsOf(visit)}</table>
${signals.length === 0 ? '' : `<h3>Who is asking, and how that is known</h3><ul class="signals">${signals.join('')}</ul>`}
${consoleLink(front, visit)}</section>
<section><h3>What such a visitor gets: ${status}</h3><iframe title="What such a visitor gets" sandbox srcdoc="${escapeHtml(documentOf(body))}"></iframe>
</section></div><h3>${repeat}</h3><pre tabindex="0">${escapeHtml(curl)}</pre>`
}

/** A signal with a bar for its weight: to a program or to a person, out of 1. */
function signalOf({ text, weight }: Visit['decision']['reasons'][number]): string {
  if (weight === undefined) return `<li>${escapeHtml(text)}</li>`
  const side = weight > 0 ? 'a program' : 'a person'
  const size = Math.min(1, Math.abs(weight))
  return `<li>${escapeHtml(text)}<br><small>speaks for ${side} <meter class="${weight > 0 ? 'against' : 'for'}" min="0" max="1" value="${size}" aria-label="Weight for ${side}"></meter></small></li>`
}

function rowsOf({ decision, status }: Visit): string {
  const { action, enforced, reasons, inspection } = decision
  const { network, agent, country, crawler } = inspection
  const place = [network.asn && `AS${network.asn}`, network.asName, country].filter(Boolean).join(', ')
  return [
    [
      'decided',
      `<strong>${DONE[action]}</strong>${enforced ? '' : ', recorded and not carried out'}, and answered ${status}`,
    ],
    ['because', escapeHtml(reasons[0]?.text ?? '')],
    ['network', escapeHtml([plain(network.verdict.classification), place].filter(Boolean).join(': '))],
    ['who asks', escapeHtml(`${plain(agent.class)}, ${Math.round(agent.confidence * 100)} % sure`)],
    ['crawler', escapeHtml(crawler === undefined ? '' : `${crawler.name}: ${crawler.outcome}`)],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
    .join('')
}

/** Text that is no page is shown as text, in the colours of this one. */
function documentOf(body: string): string {
  if (body.startsWith('<')) return body
  return `<!doctype html><meta name="color-scheme" content="light dark"><pre style="white-space:pre-wrap">${escapeHtml(body)}</pre>`
}

const DONE = {
  allow: 'allowed',
  flag: 'flagged',
  redirect: 'redirected',
  challenge: 'asked',
  throttle: 'throttled',
  block: 'blocked',
} as const

function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

function consoleLink(front: ExampleFront, { id }: Visit): string {
  const console = front.consoleUrl()
  if (console === undefined) return ''
  return `<p><a href="${escapeHtml(console)}/#/request?id=${encodeURIComponent(id)}">This very request in the console</a></p>`
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (byte) => `&#${byte.charCodeAt(0)};`)
}
