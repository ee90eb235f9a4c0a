import { createHash } from 'node:crypto'
import Negotiator from 'negotiator'
import type { RefusalPage } from '../request/request-host.ts'
import { kindOf, REFUSAL_TEXTS, type RefusalTexts } from './refusal-texts.ts'

/** The refusal that a page is made for. */
export interface Refused {
  readonly status: number
  readonly id: string
  /** Name, value, name, value … */
  readonly fields: readonly string[]
}

export const PAGE_HEADERS = { 'content-type': 'text/html; charset=utf-8', vary: 'Accept, Accept-Language' }

/** The page for a browser, in a language that it reads; with headers of its own. */
export function refusalPage(
  page: RefusalPage,
  { status, id, fields }: Refused,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const kind = kindOf(status)
  const wanted = createChooser(fields)
  const lang = wanted(Object.keys(REFUSAL_TEXTS))
  const texts = REFUSAL_TEXTS[lang] as RefusalTexts
  const [title, text] = (['title', 'text'] as const).map((part) => {
    const own = kind === 'blocked' ? page[part] : undefined
    return (typeof own === 'object' ? own[wanted(Object.keys(own))] : own) ?? texts[kind][part]
  }) as [string, string]

  const values = { title, text, id, lang, status: String(status), contact: page.contact ?? '' }
  const headers = { 'content-language': lang }
  if (page.template !== undefined) return { headers, body: filled(page.template, values) }
  return { headers: { ...headers, 'content-security-policy': POLICY }, body: ownPage(values, texts) }
}

/** Picks of languages the one that the request likes best, else the first. */
function createChooser(fields: readonly string[]): (languages: readonly string[]) => string {
  const accepted: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toLowerCase() === 'accept-language') accepted.push(fields[at + 1] as string)
  }
  const negotiator = new Negotiator({ headers: { 'accept-language': accepted.join(',') || '*' } })
  return (languages) => negotiator.language([...languages]) ?? (languages[0] as string)
}

type Values = Readonly<Record<'title' | 'text' | 'contact' | 'id' | 'status' | 'lang', string>>

/** A template with its placeholders filled in, escaped; what is no placeholder stays. */
function filled(template: string, values: Values): string {
  return template.replace(/\{\{ ?(\w{1,20}) ?\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? escapeHtml(values[name as keyof Values]) : whole,
  )
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #5b6470; --paper: #fbfaf7; --line: #dedbd2; --gate: #9a5b13 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ecebe7; --soft: #a2a9b3; --paper: #16181b; --line: #33373d; --gate: #e0a458 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1.25rem;
  background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif }
main { width: 100%; max-width: 34rem }
svg { display: block; width: 3rem; height: 3rem; color: var(--gate); margin-bottom: 1.25rem }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 .5rem; text-wrap: balance }
p { margin: 0 0 1rem; text-wrap: pretty }
.contact { color: var(--soft) }
dl { margin: 2rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem }
dt { float: left; margin-right: .6ch }
dt::after { content: ':' }
dd { margin: 0; overflow-wrap: anywhere }
code { font: inherit; font-family: ui-monospace, monospace; user-select: all }
a { color: var(--gate); text-underline-offset: .15em }
`
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** A gate, drawn in the colour of the text around it. */
const GATE =
  '<svg viewBox="0 0 48 48" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" aria-hidden="true">' +
  '<path d="M8 43V21a16 16 0 0 1 32 0v22M4 43h40M24 6v36M16 9v33M32 9v33M9 20h30M8 31h32"/></svg>'

function ownPage({ title, text, contact, id, lang }: Values, texts: RefusalTexts): string {
  return `<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${GATE}
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${contact === '' ? '' : `<p class="contact">${escapeHtml(texts.contact)} ${contactLink(contact, id)}</p>\n`}<dl><dt>${escapeHtml(texts.reference)}</dt><dd><code>${escapeHtml(id)}</code></dd></dl>
</main>
</body>
</html>
`
}

function contactLink(contact: string, id: string): string {
  const shown = escapeHtml(contact)
  if (/^https?:\/\/\S+$/.test(contact)) return `<a href="${shown}">${shown}</a>`
  if (!/^[^\s@]+@[^\s@]+$/.test(contact)) return shown
  return `<a href="mailto:${shown}?subject=${encodeURIComponent(id)}">${shown}</a>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
