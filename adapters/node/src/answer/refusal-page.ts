import { createHash } from 'node:crypto'
import type { RefusalPage } from '../request/request-host.ts'
import { contactLink, escapeHtml, GATE, PAGE_STYLE, writeLanguage } from './page-parts.ts'
import { type RefusalWords, type Refused, refusalWords } from './refusal-words.ts'

/** Returns the refusal page for a browser, with the headers of the page. */
export function refusalPage(
  page: RefusalPage,
  refused: Refused,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const words = refusalWords(page, refused)
  const { lang, dir, title, text, contact } = words
  const { id, status } = refused
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-language': lang }
  if (page.template !== undefined) {
    const values = { title: title.text, text: text.text, id, lang, dir, status: String(status), contact }
    return { headers, body: fillTemplate(page.template, values) }
  }
  return { headers: { ...headers, 'content-security-policy': POLICY }, body: renderOwnPage(words, id) }
}

type Values = Readonly<Record<'title' | 'text' | 'contact' | 'id' | 'status' | 'lang' | 'dir', string>>

/** Fills in the placeholders of a template, escaped; unknown placeholders stay as they are. */
function fillTemplate(template: string, values: Values): string {
  return template.replace(/\{\{ ?(\w{1,20}) ?\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? escapeHtml(values[name as keyof Values]) : whole,
  )
}

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function renderOwnPage(words: RefusalWords, id: string): string {
  const { lang, dir, title, text, next, contact, reference } = words
  const link = contact === '' ? '' : ` ${contactLink(contact, id)}`
  const advice = next === undefined ? '' : `<p class="next">${escapeHtml(next)}${link}</p>\n`
  return `<!doctype html>
<html lang="${escapeHtml(lang)}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title.text)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${GATE}
<h1${writeLanguage(title)}>${escapeHtml(title.text)}</h1>
<p${writeLanguage(text)}>${escapeHtml(text.text)}</p>
${advice}<dl><dt>${escapeHtml(reference)}</dt><dd><code dir="ltr">${escapeHtml(id)}</code></dd></dl>
</main>
</body>
</html>
`
}
