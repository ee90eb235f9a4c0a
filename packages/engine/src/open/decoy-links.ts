/**
 * Links to paths that only programs follow. Empty, hidden and out of the order of focus by attributes alone, so that they need no
 * style, which the policy of a site may refuse (CSP).
 */
export function decoyLinks(paths: readonly string[]): string {
  return paths
    .map((path) => `<a href="${escaped(path)}" rel="nofollow" tabindex="-1" aria-hidden="true" hidden></a>`)
    .join('')
}

/** A canonical path holds nothing else that means something in an attribute. */
function escaped(path: string): string {
  return path.replaceAll('&', '&amp;')
}
