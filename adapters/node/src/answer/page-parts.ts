import type { Phrase } from './refusal-words.ts'

/** Styles the pages for visitors. A test holds their colours equal to the console's. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ground: #f6f5f2; --line: #dedbd3; --ink: #1d1f21; --quiet: #5b5e63; --accent: #0f5c57 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #141618; --line: #34383d; --ink: #eceae5; --quiet: #a5a9ae; --accent: #5cc4b5 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1.25rem;
  background: var(--ground); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif }
main { width: 100%; max-width: 34rem }
svg { display: block; width: 3rem; height: 3rem; color: var(--accent); margin-bottom: 1.25rem }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 .5rem; text-wrap: balance }
[dir=rtl] h1 { letter-spacing: 0 }
p { margin: 0 0 1rem; text-wrap: pretty }
.next { color: var(--quiet) }
dl { margin: 2rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: .875rem }
dt, dd { display: inline; margin: 0; overflow-wrap: anywhere }
dt::after { content: ': ' }
code { display: inline-block; font: inherit; font-family: ui-monospace, monospace; user-select: all }
a { color: var(--accent); text-underline-offset: .15em }
`

/** Shows a gate in the colour of the text around it. */
export const GATE =
  '<svg viewBox="0 0 48 48" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" aria-hidden="true">' +
  '<path d="M8 43V21a16 16 0 0 1 32 0v22M4 43h40M24 6v36M16 9v33M32 9v33M9 20h30M8 31h32"/></svg>'

/** Writes the language of a text that differs from the page's language; the browser finds the direction from the letters. */
export function writeLanguage({ lang }: Phrase): string {
  return lang === undefined ? ' dir="auto"' : ` lang="${escapeHtml(lang)}" dir="auto"`
}

/** Writes a contact, as a link where it is a URL or an email address. */
export function contactLink(given: string, id: string): string {
  const contact = given.replace(/^mailto:/i, '')
  const shown = escapeHtml(contact)
  if (/^https?:\/\/\S+$/.test(contact)) return `<a dir="ltr" href="${shown}">${shown}</a>`
  if (!/^[^\s@]+@[^\s@]+$/.test(contact)) return `<bdi>${shown}</bdi>`
  return `<a dir="ltr" href="mailto:${shown}?subject=${encodeURIComponent(id)}">${shown}</a>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
