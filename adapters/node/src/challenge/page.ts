import { createHash } from 'node:crypto'
import type { ChallengeWidget, IssuedChallenge } from '@sallyport/core'
import { createChooser } from '../answer/languages.ts'
import { contactLink, escapeHtml, GATE, PAGE_STYLE, writeLanguage } from '../answer/page-parts.ts'
import { REFUSAL_TEXTS } from '../answer/refusal-texts.ts'
import { choosePhrase, isRightToLeft, type Phrase, refusalWords } from '../answer/refusal-words.ts'
import { readHead, readSite } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { ChallengePage, RefusalPage } from '../request/request-host.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { CHALLENGE_TEXTS, type ChallengeTexts, describeProvider, describeTime } from './page-texts.ts'
import { again } from './targets.ts'

export interface PageParts {
  readonly head: ReceivedHead
  /** Holds the site's own texts, and the contact that refusals show. */
  readonly page: ChallengePage
  readonly refusal: RefusalPage
  /** Absent where the client already has the pass for its form. */
  readonly challenge?: IssuedChallenge | undefined
  /** The path of the page with the form that was sent; absent: no form was sent. */
  readonly form?: string | undefined
  /** Says why the page does not reload: the client came without its cookie, or with a spent cookie and no pass. */
  readonly stuck?: 'cookies' | 'failed' | undefined
  /** Attributes that decide where browsers send our cookies. */
  readonly cookieSite: string
  /** Permits other sites to show the page in frames. */
  readonly isFramed: boolean
}

/** Renders the challenge page as one answer, without a second file; its URL stays the wanted URL. */
export function challengePage(parts: PageParts) {
  const { head, page, refusal, challenge, form, stuck, isFramed } = parts
  const wanted = createChooser(head.fields)
  const lang = wanted(Object.keys(CHALLENGE_TEXTS))
  const texts = CHALLENGE_TEXTS[lang] as ChallengeTexts
  const title: Phrase =
    form === undefined
      ? choosePhrase(page.title, texts.title, lang, wanted)
      : { text: texts.formTitle, lang: undefined }
  const text = choosePhrase(page.text, texts.text, lang, wanted)
  const widget = challenge?.widget
  const works = challenge !== undefined && (challenge.puzzles > 0 || widget !== undefined || form !== undefined)
  const wait = challenge === undefined || stuck !== undefined ? 0 : challenge.wait
  const data = works ? writeData(challenge, parts, lang, wait) : ''
  const link = escapeHtml(writeLink(parts))
  // A visitor has to read the page of a form.
  const refresh = form === undefined ? wait : 0
  const body = `<!doctype html>
<html lang="${escapeHtml(lang)}" dir="${isRightToLeft(lang) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(`${title.text} · ${readSite(readHead(head.fields)) ?? ''}`)}</title>
<style>${STYLE}</style>
${works ? `<script>${PAGE_SCRIPT}</script>\n` : ''}${refresh > 0 ? `<meta http-equiv="refresh" content="${refresh};url=${link}">\n` : ''}${works ? '</template>\n' : ''}</head>
<body>
<main${data}>
${GATE}
<h1 id="title"${writeLanguage(title)}>${escapeHtml(title.text)}</h1>
<p${writeLanguage(text)}>${escapeHtml(text.text)}</p>
${works ? writeAction(challenge) : ''}<p id="said" role="status">${escapeHtml(chooseStatus(parts, lang, texts))}</p>
<p id="again"><a href="${link}">${escapeHtml(form === undefined ? texts.again : texts.back)}</a></p>
${writeFoot(refusal, head)}</main>
</body>
</html>
`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': lang,
    'content-security-policy': contentPolicy(widget, isFramed),
  }
  return { headers, body }
}

const hashText = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const STYLE = `${PAGE_STYLE}progress { width: 100%; height: .5rem; margin-bottom: 1rem; accent-color: var(--accent) }
[hidden] { display: none }
`
const SCRIPT_HASH = hashText(PAGE_SCRIPT)
const OURS = `default-src 'none'; style-src ${hashText(STYLE)}; script-src ${SCRIPT_HASH}; connect-src 'self'`
const CLOSED = "base-uri 'none'; form-action 'none'; frame-ancestors "

/** Returns the Content-Security-Policy of the page. A provider's script creates styles and workers, which no hash can name. */
function contentPolicy(widget: ChallengeWidget | undefined, isFramed: boolean): string {
  const closed = `${CLOSED}${isFramed ? '*' : "'none'"}`
  if (widget === undefined) return `${OURS}; ${closed}`
  const from = [new URL(widget.script).origin, ...widget.origins].join(' ')
  const scripts = `script-src ${SCRIPT_HASH} 'wasm-unsafe-eval' ${from}; worker-src blob: ${from}`
  const parts = `frame-src ${from}; img-src data: ${from}; font-src ${from}; style-src 'unsafe-inline' ${from}`
  return `default-src 'none'; ${scripts}; ${parts}; connect-src 'self' ${from}; ${closed}`
}

/** Returns the link of the page: to the wanted URL, or to the page with the form, through the place that gives a pass for waiting. */
function writeLink({ head, page, challenge, form }: PageParts): string {
  if (form === undefined) return again(head.target)
  return challenge === undefined ? form : `${page.path}/pass?to=${encodeURIComponent(form)}`
}

/** Writes the progress bar of our work, or the element of a provider's widget. */
function writeAction({ puzzles, widget }: IssuedChallenge): string {
  if (puzzles === 0 && widget === undefined) return ''
  if (widget === undefined) return `<progress max="${puzzles}" value="0" aria-labelledby="title" hidden></progress>\n`
  const { name, element, attributes } = widget
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`)
  return `<form aria-label="${escapeHtml(name)}"><${element}${written.join('')}></${element}></form>\n`
}

/** Chooses the status for a visitor without scripts; the script replaces it. */
function chooseStatus({ challenge, stuck }: PageParts, lang: string, texts: ChallengeTexts): string {
  if (challenge === undefined) return texts.formDone
  if (stuck !== undefined) return texts[stuck]
  return challenge.wait === 0 ? texts.script : `${describeTime(lang, challenge.wait)} ${texts.download}`
}

/** Counts the hashes that a slow phone computes in a second. */
const HASHES = 50_000

/** Writes the challenge and the texts for the script, as attributes. */
function writeData(
  { text, puzzles, bits, widget }: IssuedChallenge,
  { page, cookieSite, form }: PageParts,
  lang: string,
  wait: number,
): string {
  const { cookies, failed, download, done, formDone } = CHALLENGE_TEXTS[lang] as ChallengeTexts
  const seconds = puzzles === 0 ? wait : Math.ceil((puzzles * 2 ** bits) / HASHES)
  const work = { challenge: text, puzzles, bits, wait, path: `${page.path}/pass`, site: cookieSite }
  const words = {
    time: widget === undefined ? describeTime(lang, seconds) : describeProvider(lang, widget.name),
    busy: REFUSAL_TEXTS[lang]?.busy.text ?? '',
    cookies,
    failed,
    download,
    done: form === undefined ? done : formDone,
  }
  const widgets = widget === undefined ? {} : { script: widget.script, field: widget.field }
  return Object.entries({ ...work, ...words, ...widgets, ...(form === undefined ? {} : { back: form }) })
    .map(([name, value]) => ` data-${name}="${escapeHtml(String(value))}"`)
    .join('')
}

/** Writes the contact of the site, and the request's id, under which the log has the request. */
function writeFoot(refusal: RefusalPage, { id, fields }: ReceivedHead): string {
  const { contact, next, reference } = refusalWords({ contact: refusal.contact }, { status: 403, fields })
  const advice = contact === '' ? '' : `<p class="next">${escapeHtml(next ?? '')} ${contactLink(contact, id)}</p>\n`
  return `${advice}<dl><dt>${escapeHtml(reference)}</dt><dd><code dir="ltr">${escapeHtml(id)}</code></dd></dl>\n`
}
