import { createHash } from 'node:crypto'
import type { ChallengeWidget, IssuedChallenge } from '@sallyport/core'
import { createChooser } from '../answer/languages.ts'
import { contactLink, escapeHtml, GATE, languageOf, PAGE_STYLE } from '../answer/page-parts.ts'
import { REFUSAL_TEXTS } from '../answer/refusal-texts.ts'
import { isRightToLeft, type Phrase, phraseOf, refusalWords } from '../answer/refusal-words.ts'
import { readHead, siteOf } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { ChallengePage, RefusalPage } from '../request/request-host.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { CHALLENGE_TEXTS, type ChallengeTexts, providerOf, timeOf } from './page-texts.ts'
import { again } from './targets.ts'

/** The makings of a page. */
export interface PageParts {
  readonly head: ReceivedHead
  /** Texts of the site, and the contact of its refusals. */
  readonly page: ChallengePage
  readonly refusal: RefusalPage
  /** Absent where the pass of a form is there. */
  readonly challenge?: IssuedChallenge | undefined
  /** Path of the page that has the form which was sent; absent: none was. */
  readonly form?: string | undefined
  /** Cause that keeps the page from coming back: it came without its cookie, or with a spent one and no pass. */
  readonly stuck?: 'cookies' | 'failed' | undefined
  /** Attributes of our cookies that say where they are sent. */
  readonly cookieSite: string
  /** It may be shown in frames of other sites. */
  readonly isFramed: boolean
}

/** The page that asks: one answer, without a second file, and the URL is the wanted one. */
export function challengePage({ head, page, refusal, challenge, form, stuck, cookieSite, isFramed }: PageParts): {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
  const wanted = createChooser(head.fields)
  const lang = wanted(Object.keys(CHALLENGE_TEXTS))
  const texts = CHALLENGE_TEXTS[lang] as ChallengeTexts
  const title: Phrase =
    form === undefined ? phraseOf(page.title, texts.title, lang, wanted) : { text: texts.formTitle, lang: undefined }
  const text = phraseOf(page.text, texts.text, lang, wanted)
  const widget = challenge?.widget
  const works = challenge !== undefined && (challenge.puzzles > 0 || widget !== undefined || form !== undefined)
  const wait = challenge === undefined || stuck !== undefined ? 0 : challenge.wait
  const data = works ? dataOf(challenge, { wait, lang, page, cookieSite, form }) : ''
  const link = escapeHtml(linkOf({ head, page, challenge, form }))
  // The page of a form has to be read.
  const refresh = form === undefined ? wait : 0
  const body = `<!doctype html>
<html lang="${escapeHtml(lang)}" dir="${isRightToLeft(lang) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(`${title.text} · ${siteOf(readHead(head.fields)) ?? ''}`)}</title>
<style>${STYLE}</style>
${works ? `<script>${PAGE_SCRIPT}</script>\n` : ''}${refresh > 0 ? `<meta http-equiv="refresh" content="${refresh};url=${link}">\n` : ''}${works ? '</template>\n' : ''}</head>
<body>
<main${data}>
${GATE}
<h1 id="title"${languageOf(title)}>${escapeHtml(title.text)}</h1>
<p${languageOf(text)}>${escapeHtml(text.text)}</p>
${works ? actOf(challenge) : ''}<p id="said" role="status">${escapeHtml(saidOf({ challenge, stuck }, lang, texts))}</p>
<p id="again"><a href="${link}">${escapeHtml(form === undefined ? texts.again : texts.back)}</a></p>
${footOf(refusal, head)}</main>
</body>
</html>
`
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': lang,
    'content-security-policy': policyOf(widget, isFramed),
  }
  return { headers, body }
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const STYLE = `${PAGE_STYLE}progress { width: 100%; height: .5rem; margin-bottom: 1rem; accent-color: var(--accent) }
[hidden] { display: none }
`
const SCRIPT_HASH = hashOf(PAGE_SCRIPT)
const OURS = `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${SCRIPT_HASH}; connect-src 'self'`
const CLOSED = "base-uri 'none'; form-action 'none'; frame-ancestors "

/**
 * The policy of the page. A provider's parts come from the sources that are named and no others; its styles and its workers
 * are made by its script, which no hash could name.
 */
function policyOf(widget: ChallengeWidget | undefined, isFramed: boolean): string {
  const closed = `${CLOSED}${isFramed ? '*' : "'none'"}`
  if (widget === undefined) return `${OURS}; ${closed}`
  const from = [new URL(widget.script).origin, ...widget.origins].join(' ')
  const scripts = `script-src ${SCRIPT_HASH} 'wasm-unsafe-eval' ${from}; worker-src blob: ${from}`
  const parts = `frame-src ${from}; img-src data: ${from}; font-src ${from}; style-src 'unsafe-inline' ${from}`
  return `default-src 'none'; ${scripts}; ${parts}; connect-src 'self' ${from}; ${closed}`
}

/** The link of the page: to the wanted URL once more, or to the page that has the form, by way of the place that takes waiting for a pass. */
function linkOf({ head, page, challenge, form }: Pick<PageParts, 'head' | 'page' | 'challenge' | 'form'>): string {
  if (form === undefined) return again(head.target)
  return challenge === undefined ? form : `${page.path}/pass?to=${encodeURIComponent(form)}`
}

/** The bar of our work, or the place of a provider's widget. */
function actOf({ puzzles, widget }: IssuedChallenge): string {
  if (puzzles === 0 && widget === undefined) return ''
  if (widget === undefined) return `<progress max="${puzzles}" value="0" aria-labelledby="title" hidden></progress>\n`
  const { name, element, attributes } = widget
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`)
  return `<form aria-label="${escapeHtml(name)}"><${element}${written.join('')}></${element}></form>\n`
}

/** The status for who runs no script; the script says another. */
function saidOf(
  { challenge, stuck }: Pick<PageParts, 'challenge' | 'stuck'>,
  lang: string,
  texts: ChallengeTexts,
): string {
  if (challenge === undefined) return texts.formDone
  if (stuck !== undefined) return texts[stuck]
  return challenge.wait === 0 ? texts.script : `${timeOf(lang, challenge.wait)} ${texts.download}`
}

/** Hashes that a slow phone makes in a second. */
const HASHES = 50_000

/** The question and the texts for the script, as attributes. */
function dataOf(
  challenge: IssuedChallenge,
  {
    wait,
    lang,
    page,
    cookieSite,
    form,
  }: Pick<PageParts, 'page' | 'cookieSite' | 'form'> & { readonly wait: number; readonly lang: string },
): string {
  const { text, puzzles, bits, widget } = challenge
  const { cookies, failed, download, ...texts } = CHALLENGE_TEXTS[lang] as ChallengeTexts
  const done = form === undefined ? texts.done : texts.formDone
  const seconds = puzzles === 0 ? wait : Math.ceil((puzzles * 2 ** bits) / HASHES)
  const time = widget === undefined ? timeOf(lang, seconds) : providerOf(lang, widget.name)
  const busy = REFUSAL_TEXTS[lang]?.busy.text ?? ''
  const path = `${page.path}/pass`
  const parts = {
    challenge: text,
    puzzles,
    bits,
    wait,
    path,
    site: cookieSite,
    time,
    busy,
    cookies,
    failed,
    download,
    done,
  }
  const widgets = widget === undefined ? {} : { script: widget.script, field: widget.field }
  const all = { ...parts, ...widgets, ...(form === undefined ? {} : { back: form }) }
  return Object.entries(all)
    .map(([name, value]) => ` data-${name}="${escapeHtml(String(value))}"`)
    .join('')
}

/** The contact of the site, and the id by which its log has the request. */
function footOf(refusal: RefusalPage, { id, fields }: ReceivedHead): string {
  const { contact, next, reference } = refusalWords({ contact: refusal.contact }, { status: 403, fields })
  const advice = contact === '' ? '' : `<p class="next">${escapeHtml(next ?? '')} ${contactLink(contact, id)}</p>\n`
  return `${advice}<dl><dt>${escapeHtml(reference)}</dt><dd><code dir="ltr">${escapeHtml(id)}</code></dd></dl>\n`
}
