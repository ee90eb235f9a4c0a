import { createHash } from 'node:crypto'
import type { IssuedChallenge } from '@sallyport/core'
import { contactLink, escapeHtml, GATE, languageOf, PAGE_STYLE } from '../answer/page-parts.ts'
import { createChooser, isRightToLeft, type Phrase, phraseOf, refusalWords } from '../answer/refusal-words.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { ChallengePage, RefusalPage } from '../request/request-host.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { CHALLENGE_TEXTS, type ChallengeTexts } from './page-texts.ts'

/** The makings of a page. */
export interface PageParts {
  readonly head: ReceivedHead
  /** Texts of the site, and the contact of its refusals. */
  readonly page: ChallengePage
  readonly refusal: RefusalPage
  /** Absent for a form, which is not sent again. */
  readonly challenge?: IssuedChallenge | undefined
  /** The page was here before, and its cookie did not come back. */
  readonly cookiesRefused: boolean
}

/** Beside our name of the parameter, nothing is in the wanted URL that it had not before. */
export const AGAIN = 'sallyport-again=1'

/** The page that asks: one answer, without a second file, and the URL is the wanted one. */
export function challengePage({ head, page, refusal, challenge, cookiesRefused }: PageParts): {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
  const wanted = createChooser(head.fields)
  const lang = wanted(Object.keys(CHALLENGE_TEXTS))
  const texts = CHALLENGE_TEXTS[lang] as ChallengeTexts
  const phrase = (part: 'title' | 'text'): Phrase => phraseOf(page[part], texts[part], lang, wanted)
  const asks = challenge !== undefined && !cookiesRefused
  const body = [
    headOf(lang, phrase('title'), asks ? challenge : undefined, head.target),
    mainOf({ head, texts, phrase, challenge: asks ? challenge : undefined, page, cookiesRefused }),
    footOf(refusal, head),
    `</main>\n${asks && challenge.puzzles > 0 ? `<script>${PAGE_SCRIPT}</script>\n` : ''}</body>\n</html>\n`,
  ].join('')
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': lang,
    'content-security-policy': POLICY,
  }
  return { headers, body }
}

const SCRIPT_HASH = createHash('sha256').update(PAGE_SCRIPT).digest('base64')
const STYLE = `${PAGE_STYLE}progress { width: 100%; height: .5rem; accent-color: var(--gate) }
[hidden] { display: none }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src 'sha256-${SCRIPT_HASH}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function headOf(lang: string, title: Phrase, challenge: IssuedChallenge | undefined, target: string): string {
  // Also where script runs (D433): a stricter policy of a server in front may forbid ours.
  const wait = challenge !== undefined && challenge.wait > 0
  const refresh = wait
    ? `<meta http-equiv="refresh" content="${challenge.wait};url=${escapeHtml(again(target))}">\n`
    : ''
  return `<!doctype html>
<html lang="${escapeHtml(lang)}" dir="${isRightToLeft(lang) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}<title>${escapeHtml(title.text)}</title>
<style>${STYLE}</style>
</head>
<body>
`
}

interface MainParts extends Pick<PageParts, 'head' | 'page' | 'challenge' | 'cookiesRefused'> {
  readonly texts: ChallengeTexts
  readonly phrase: (part: 'title' | 'text') => Phrase
}

function mainOf({ head, texts, phrase, challenge, page, cookiesRefused }: MainParts): string {
  const [title, text] = [phrase('title'), phrase('text')]
  const link = escapeHtml(relative(withoutAgain(head.target)))
  const isForm = challenge === undefined && !cookiesRefused
  const said = cookiesRefused ? texts.cookies : isForm ? texts.form : ''
  const works = challenge !== undefined && challenge.puzzles > 0
  const data = works
    ? ` data-challenge="${challenge.text}" data-puzzles="${challenge.puzzles}" data-bits="${challenge.bits}" data-path="${escapeHtml(`${page.path}/pass`)}" data-done="${escapeHtml(texts.done)}" data-cookies="${escapeHtml(texts.cookies)}" data-failed="${escapeHtml(texts.failed)}"`
    : ''
  const bar = works
    ? `<progress max="${challenge.puzzles}" value="0" aria-label="${escapeHtml(texts.progress)}"></progress>\n`
    : ''
  const scriptless =
    works && challenge.wait === 0 ? `<noscript><p class="next">${escapeHtml(texts.script)}</p></noscript>\n` : ''
  const isShown = said !== '' || (challenge !== undefined && !works)
  return `<main${data}>
${GATE}
<h1${languageOf(title)}>${escapeHtml(title.text)}</h1>
<p${languageOf(text)}>${escapeHtml(text.text)}</p>
${bar}<p id="said" role="status">${escapeHtml(said)}</p>
${scriptless}<p id="again"${isShown ? '' : ' hidden'}><a href="${link}">${escapeHtml(texts.again)}</a></p>
`
}

/** The contact of the site, and the id by which its log has the request. */
function footOf(refusal: RefusalPage, { id, fields }: ReceivedHead): string {
  const { contact, next, reference } = refusalWords({ contact: refusal.contact }, { status: 403, fields })
  const advice = contact === '' ? '' : `<p class="next">${escapeHtml(next ?? '')} ${contactLink(contact, id)}</p>\n`
  return `${advice}<dl><dt>${escapeHtml(reference)}</dt><dd><code dir="ltr">${escapeHtml(id)}</code></dd></dl>\n`
}

/** The wanted URL for a client that waits: it comes back with our parameter, by which a loop is seen. */
function again(target: string): string {
  const clean = withoutAgain(target)
  return `${relative(clean)}${clean.includes('?') ? '&' : '?'}${AGAIN}`
}

/** Whether a target was come back to. */
export function isAgain(target: string): boolean {
  return target.endsWith(`?${AGAIN}`) || target.endsWith(`&${AGAIN}`)
}

/** The wanted target without our parameter. */
export function withoutAgain(target: string): string {
  return isAgain(target) ? target.slice(0, -AGAIN.length - 1) : target
}

/** A target as a reference that names this host alone: a path with two slashes would name another one. */
export function relative(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  if (!path.startsWith('/')) return `/${path.replace(/^[^?]*/, '')}`
  return /^\/[/\\]/.test(path) ? `/.${path}` : path
}
