import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { AROUND, SPELLINGS } from '../hosts/spellings.ts'
import { exchange, requestBytes } from '../hosts/wire.ts'

/*
 * A copy of an example gets a page at /admin, and a rule that blocks it for all but one visitor: no spelling of the path may
 * reach the page in the framework's own router.
 */
const REACHED = 'reached-admin'
const ADMIN_READER = '73.162.10.20'
const VISITOR = '73.162.10.21'
const OLD_RULE = "match: { networkClass: ['tor'] }, action: 'block' }"

/** Where frameworks serve the data of a page apart from it. */
const DATA = ['/admin.data', '/admin/_.data', '/admin/__data.json', '/admin?_data=routes%2Fadmin']

export interface GuardedPage {
  readonly files?: Readonly<Record<string, string>>
  /** File, text that is in it, and the text in its place. */
  readonly edits?: readonly (readonly [file: string, text: string, other: string])[]
  /** Paths at which this framework serves the page's data beside /admin and what is below; the rule names them. */
  readonly paths?: readonly string[]
}

export function addRule(text: string, paths: readonly string[] = []): string {
  const path = JSON.stringify(['/admin', '/admin/**', ...paths])
  const match = `{ path: ${path}, not: { address: ['${ADMIN_READER}'] } }`
  return edit(text, OLD_RULE, `${OLD_RULE}, { id: 'no-admin', match: ${match}, action: 'block' }`)
}

/** Puts `other` in the place of a text that must be there. */
export function edit(whole: string, text: string, other: string): string {
  if (!whole.includes(text)) throw new Error(`the example does not contain ${text}`)
  return whole.replace(text, other)
}

/** Writes the page and the rule into a copy of an example, whose Sallyport is opened in the file `opens`. */
export function addGuardedPage(project: string, opens: string, page: GuardedPage): void {
  const change = (file: string, write: (text: string) => string) => {
    const path = join(project, file)
    writeFileSync(path, write(readFileSync(path, 'utf8')))
  }
  change(opens, (text) => addRule(text, page.paths))
  for (const [file, text, other] of page.edits ?? []) change(file, (whole) => edit(whole, text, other))
  for (const [file, text] of Object.entries(page.files ?? {})) {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), text)
  }
}

/** Asks a running copy for the page in all spellings: one visitor reads it, and no other does. */
export async function checkGuardedPage(t: Test, port: number): Promise<void> {
  const ask = (target: string, address: string) =>
    exchange(port, requestBytes('GET', target, ['X-Forwarded-For', address, 'Connection', 'close'])).catch(String)
  t.match(await ask('/admin', ADMIN_READER), REACHED, 'the page is there')
  for (const target of ['/admin', '/admin/', ...DATA, ...SPELLINGS, ...AROUND])
    t.notMatch(await ask(target, VISITOR), REACHED, target)
}
