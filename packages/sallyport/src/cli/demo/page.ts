import { escapeHtml } from '@sallyport/proxy/internal'
import type { DemoFront, Visit } from './visit.ts'
import { type DemoVisitor, VISITOR_KINDS } from './visitors.ts'

type Chosen = { readonly visitor: DemoVisitor; readonly visit: Visit }

export function visitorsPage(front: DemoFront, chosen?: Chosen): string {
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

function visitPart(front: DemoFront, { visitor, visit }: Chosen): string {
  const { decision, status, body, curl } = visit
  const { action } = decision
  const signals = decision.inspection.agent.reasons.map(({ text }) => `<li>${escapeHtml(text)}</li>`)
  const repeat =
    visitor.sign === undefined ? 'The same in a terminal' : 'The same in a terminal; works once, within five minutes'
  return `<h2 id="gate">You are ${escapeHtml(visitor.who)}, ${visitor.address}</h2>
${visitor.note === undefined ? '' : `<p class="note">${escapeHtml(visitor.note)}</p>`}
<div class="halves"><section><h3>What the gate decides</h3><table class="${action}">${writeRows(visitor, visit)}</table>
${signals.length === 0 ? '' : `<h3>Who the client is, and how the gate knows</h3><ul>${signals.join('')}</ul>`}
${consoleLink(front, visit)}</section>
<section><h3>What such a visitor gets: ${status}</h3>${body === '' ? '<p>No page.</p>' : `<iframe title="What such a visitor gets" sandbox srcdoc="${escapeHtml(renderDocument(body))}"></iframe>`}
</section></div><h3>${repeat}</h3><pre id="curl" tabindex="0">${escapeHtml(curl)}</pre>`
}

function writeRows({ paths }: DemoVisitor, { decision, status, statuses }: Visit): string {
  const { action, enforced, reasons, inspection, location } = decision
  const { network, agent, country, crawler } = inspection
  const place = [network.asn && `AS${network.asn}`, network.asName, country].filter(Boolean).join(', ')
  return [
    ['request', escapeHtml([...new Set(paths)].join(', then '))],
    ['answered', statuses.length === 1 ? '' : statuses.join(', ')],
    [
      'decided',
      `<strong>${DONE[action]}</strong>${enforced ? '' : ', recorded but not enforced'}, and answered ${status}`,
    ],
    ['leads to', escapeHtml(location ?? '')],
    ['because', because(reasons)],
    ['network', escapeHtml([plain(network.verdict.classification), place].filter(Boolean).join(': '))],
    ['client', escapeHtml(`${plain(agent.class)}, ${Math.round(agent.confidence * 100)} % sure`)],
    ['a program', `probability ${Math.round(agent.botProbability * 100)} %`],
    ['crawler', escapeHtml(crawler === undefined ? '' : `${crawler.name}: ${crawler.outcome}`)],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`)
    .join('')
}

/** Writes the reason that decided, with added weights; other reasons have their own rows. */
function because(reasons: Visit['decision']['reasons']): string {
  return reasons
    .filter(({ id }, index) => index === 0 || id === 'policy:weight' || id === 'payment')
    .map(({ text }) => escapeHtml(text))
    .join('<br>')
}

/** Shows plain text as text, in the colours of this page. */
function renderDocument(body: string): string {
  if (body.startsWith('<')) return body
  return `<!doctype html><html lang="en"><title>Text</title><meta name="color-scheme" content="light dark"><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(body)}</pre>`
}

const DONE = {
  allow: 'allowed',
  flag: 'flagged',
  redirect: 'redirected',
  challenge: 'asked',
  offer: 'priced',
  throttle: 'throttled',
  block: 'blocked',
} as const

function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

function consoleLink({ consoleUrl }: DemoFront, { id }: Visit): string {
  if (consoleUrl === undefined) return ''
  return `<p><a href="${escapeHtml(consoleUrl)}/#/request?id=${encodeURIComponent(id)}">This request in the console</a></p>`
}
