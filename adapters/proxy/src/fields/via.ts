import { createSpellings } from './spellings.ts'

const PSEUDONYM = 'sallyport'
/** How often a request may have passed through a Sallyport: one before another is usual, five in a row are not. */
const MAX_PASSED = 4

const isVia = createSpellings(['via'])

/** The value of the `Via` field that we add to a request (RFC 9110 7.6.3); it names no host and no process. */
export function viaOf(httpVersion: string): string {
  // That of HTTP/2 has no minor part (RFC 9113 8.8.3).
  return `${httpVersion === '2.0' ? '2' : httpVersion} ${PSEUDONYM}`
}

/**
 * Whether a request goes round in a circle: it has passed through more Sallyports than are ever put in a row. They all
 * have one name, so that a circle through several workers or machines is found too, after a few rounds (D98).
 */
export function isLoop(fields: readonly string[]): boolean {
  let passed = 0
  for (let i = 0; i < fields.length; i += 2) {
    if (isVia(fields[i] as string) === undefined) continue
    for (const element of (fields[i + 1] as string).split(',')) {
      if (element.trim().endsWith(` ${PSEUDONYM}`)) passed += 1
    }
  }
  return passed > MAX_PASSED
}
