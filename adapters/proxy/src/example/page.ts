import type { ExampleFront, Visit } from './visit.ts'
import { type ExampleVisitor, VISITOR_KINDS } from './visitors.ts'

/** A visitor, and what became of it. */
export interface Chosen {
  readonly visitor: ExampleVisitor
  readonly visit: Visit
}

/** The visitors to be, and what became of the one that was chosen. */
export function visitorsPage(front: ExampleFront, chosen?: Chosen): string {
  const kinds = VISITOR_KINDS.map((kind) => {
    const choices = front.visitors
      .filter((visitor) => visitor.kind === kind)
      .map(
        ({ id, who }) =>
          `<li><a class="be" href="/?as=${id}#gate"${chosen?.visitor.id === id ? ' aria-current="true"' : ''}>${escapeHtml(who)}</a></li>`,
      )
    return `<div><h2>${kind}</h2><ul>${choices.join('')}</ul></div>`
  })
  const shown = chosen === undefined ? '' : visitPart(front, chosen)
  return `<p>A small site behind Sallyport. Choose who you are, and see what the gate decides.</p><div class="kinds">${kinds.join('')}</div>${shown}`
}

function visitPart(front: ExampleFront, { visitor, visit }: Chosen): string {
  const { decision, status, body, curl } = visit
  const { action } = decision
  const signals = decision.inspection.agent.reasons.map(signalOf)
  const repeat =
    visitor.sign === undefined
      ? 'The same in a terminal'
      : 'The same in a terminal: it is good once, within five minutes'
  return `<h2 id="gate">You are ${escapeHtml(visitor.who)}, ${visitor.address}</h2>
${visitor.note === undefined ? '' : `<p class="note">${escapeHtml(visitor.note)}</p>`}
<div class="halves"><section><h3>What the gate decides</h3><table class="${action}">${rowsOf(visitor, visit)}</table>
${signals.length === 0 ? '' : `<h3>Who is asking, and how that is known</h3><ul class="signals">${signals.join('')}</ul>`}
${consoleLink(front, visit)}</section>
<section><h3>What such a visitor gets: ${status}</h3>${body === '' ? '<p>No page.</p>' : `<iframe title="What such a visitor gets" sandbox srcdoc="${escapeHtml(documentOf(body))}"></iframe>`}
</section></div><div class="copied"><h3>${repeat}</h3><button type="button" data-copies="curl" hidden>Copy</button></div><pre id="curl" tabindex="0">${escapeHtml(curl)}</pre>`
}

/** A signal with a bar for its weight: to a program or to a person, out of 1. */
function signalOf({ text, weight }: Visit['decision']['reasons'][number]): string {
  if (weight === undefined) return `<li>${escapeHtml(text)}</li>`
  const size = Math.round(Math.min(1, Math.abs(weight)) * 100)
  const [side, name] = weight > 0 ? ['a program', 'bar against'] : ['a person', 'bar']
  return `<li>${escapeHtml(text)}<span class="${name}" aria-hidden="true"><i style="width:${size}%"></i></span><small>speaks ${strengthOf(size)} for ${side}</small></li>`
}

function strengthOf(percent: number): string {
  return percent < 30 ? 'a little' : percent < 70 ? 'clearly' : 'strongly'
}

function rowsOf({ paths }: ExampleVisitor, { decision, status, statuses }: Visit): string {
  const { action, enforced, reasons, inspection, location } = decision
  const { network, agent, country, crawler } = inspection
  const place = [network.asn && `AS${network.asn}`, network.asName, country].filter(Boolean).join(', ')
  return [
    ['asked for', escapeHtml([...new Set(paths)].join(', then '))],
    ['answered', statuses.length === 1 ? '' : statuses.join(', ')],
    [
      'decided',
      `<strong>${DONE[action]}</strong>${enforced ? '' : ', recorded and not carried out'}, and answered ${status}`,
    ],
    ['leads to', escapeHtml(location ?? '')],
    ['because', because(reasons)],
    ['network', escapeHtml([plain(network.verdict.classification), place].filter(Boolean).join(': '))],
    ['who asks', escapeHtml(`${plain(agent.class)}, ${Math.round(agent.confidence * 100)} % sure`)],
    ['a program', `with ${Math.round(agent.botProbability * 100)} % probability`],
    ['crawler', escapeHtml(crawler === undefined ? '' : `${crawler.name}: ${crawler.outcome}`)],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
    .join('')
}

/** The reason that decided, and what was added up; the rest has rows of its own. */
function because(reasons: Visit['decision']['reasons']): string {
  return reasons
    .filter(({ id }, index) => index === 0 || id === 'policy:weight')
    .map(({ text }) => escapeHtml(text))
    .join('<br>')
}

/** Text that is no page is shown as text, in the colours of this one. */
function documentOf(body: string): string {
  if (body.startsWith('<')) return body
  return `<!doctype html><html lang="en"><title>Text</title><meta name="color-scheme" content="light dark"><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(body)}</pre>`
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
