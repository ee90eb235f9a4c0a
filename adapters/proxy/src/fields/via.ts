const PSEUDONYM = 'sallyport'
/** How often a request may have passed through a Sallyport: one before another is usual, five in a row are not. */
const MAX_PASSED = 4

/** The value of the `Via` field that we add to a request, by its version (RFC 9110 7.6.3); it names no host and no process. */
export const VIA: Readonly<Record<string, string>> & { readonly '1.1': string } = {
  '1.0': `1.0 ${PSEUDONYM}`,
  '1.1': `1.1 ${PSEUDONYM}`,
  // That of HTTP/2 has no minor part (RFC 9113 8.8.3).
  '2.0': `2 ${PSEUDONYM}`,
}

/**
 * Whether a request with such `Via` fields goes round in a circle: it has passed through more Sallyports than are ever put in a row. They all
 * have one name, so that a circle through several workers or machines is found too, after a few rounds.
 */
export function isLoop(via: string | undefined): boolean {
  if (via === undefined) return false
  return via.split(',').filter((element) => element.trim().endsWith(` ${PSEUDONYM}`)).length > MAX_PASSED
}
