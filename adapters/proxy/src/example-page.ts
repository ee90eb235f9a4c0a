import type { ExampleFront, Visit } from './example-visit.ts'
import { EXAMPLE_VISITORS, type ExampleVisitor } from './example-visitors.ts'

/** The visitors to be, and what became of the one that was chosen. */
export function visitorsPage(
  front: ExampleFront,
  chosen?: { readonly visitor: ExampleVisitor; readonly visit: Visit },
): string {
  const buttons = EXAMPLE_VISITORS.map(
    ({ id, who }) =>
      `<a class="be" href="/?as=${id}"${chosen?.visitor.id === id ? ' aria-current="true"' : ''}>${escapeHtml(who)}</a>`,
  )
  const shown =
    chosen === undefined ? '<p>Choose who you are, and see what the gate makes of you.</p>' : visitPart(front, chosen)
  return `<p>A small site behind Sallyport. Come as</p><p class="who">${buttons.join(' ')}</p>${shown}`
}

function visitPart(
  front: ExampleFront,
  { visitor, visit }: { readonly visitor: ExampleVisitor; readonly visit: Visit },
): string {
  const { decision, status, id, body, curl } = visit
  const { action, enforced, reasons, inspection } = decision
  const { network, agent, country } = inspection
  const rows = [
    ['decided', `${action}${enforced ? '' : ', recorded and not carried out'}, and answered ${status}`],
    ['because', reasons[0]?.text],
    [
      'network',
      [network.verdict.classification, network.asn && `AS${network.asn}`, network.asName, country]
        .filter(Boolean)
        .join(', '),
    ],
    ['who asks', `${agent.class}, confidence ${agent.confidence}`],
    ['crawler', inspection.crawler && `${inspection.crawler.name}: ${inspection.crawler.outcome}`],
  ].flatMap(([name, value]) =>
    value ? [`<tr><th scope="row">${name}</th><td>${escapeHtml(String(value))}</td></tr>`] : [],
  )
  const signals = agent.reasons.map(
    ({ text, weight }) =>
      `<li>${weight === undefined ? '' : `${weight > 0 ? '+' : ''}${weight} `}${escapeHtml(text)}</li>`,
  )
  const console = front.consoleUrl()
  const link =
    console === undefined
      ? ''
      : `<p><a href="${escapeHtml(console)}/#/request?id=${encodeURIComponent(id)}">This very request in the console</a></p>`
  return `<h2>You are ${escapeHtml(visitor.who)}, ${visitor.address}</h2><table class="${action}">${rows.join('')}</table>
${signals.length === 0 ? '' : `<p>What speaks for and against a program:</p><ul>${signals.join('')}</ul>`}
<p>The same in a terminal:</p><pre>${escapeHtml(curl)}</pre>${link}
<h2>What such a visitor gets</h2><iframe title="What such a visitor gets" sandbox srcdoc="${escapeHtml(body)}"></iframe>`
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (byte) => `&#${byte.charCodeAt(0)};`)
}
