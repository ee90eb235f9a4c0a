const PSEUDONYM = 'sallyport'
/** Limits how many Sallyports a request may have passed: one before another is usual, five in a row are not. */
const MAX_PASSED = 4

/** Our value of the `Via` field, by the version of the request (RFC 9110 7.6.3); it names no host and no process. */
export const VIA: Readonly<Record<string, string>> & { readonly '1.1': string } = {
  '1.0': `1.0 ${PSEUDONYM}`,
  '1.1': `1.1 ${PSEUDONYM}`,
  // HTTP/2 has no minor version (RFC 9113 8.8.3).
  '2.0': `2 ${PSEUDONYM}`,
}

/**
 * Reports whether a request with these `Via` fields is in a loop: it has passed more Sallyports than anyone puts in a row. All Sallyports
 * share one name, so that a loop through several workers or machines is found too, after a few rounds.
 */
export function isLoop(via: string | undefined): boolean {
  if (via === undefined) return false
  return via.split(',').filter((element) => element.trim().endsWith(` ${PSEUDONYM}`)).length > MAX_PASSED
}
