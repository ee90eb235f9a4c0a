/**
 * Whether a user agent is written as the frameworks write it in which applications for people are made: iOS and macOS for what an
 * application fetches itself, Electron, and a WebView of a phone. A crawler says besides what it is: by a link, or as `compatible`.
 */
export function isApplications(text: string): boolean {
  if (text.includes('://') || text.includes('compatible')) return false
  const has = (...parts: readonly string[]) => parts.every((part) => text.includes(part))
  const isNative = has(' CFNetwork/', ' Darwin/') || has('; iOS ', '; Scale/')
  return isNative || has(' Chrome/', ' Electron/') || has('; wv)', ' Version/4.0 ') || isWebViewOfIos(text)
}

/** Safari names itself; a WebView there names no browser at all. */
function isWebViewOfIos(text: string): boolean {
  return (
    /^Mozilla\/5\.0 \(iP(?:hone|ad)/.test(text) &&
    text.includes(' Mobile/') &&
    !/Safari|Version|CriOS|Chrome/.test(text)
  )
}
