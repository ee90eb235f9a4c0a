/** An application for people has this form; `electron` is a browser too, which an agent may steer. */
export type ApplicationForm = 'electron' | 'native'

/** Most applications on Apple's devices use a library that names these systems: `Name/1.0 (iPad; iPadOS 17.5; Scale/2.00)`. */
const SYSTEMS: readonly string[] = ['iOS', 'iPadOS', 'tvOS', 'watchOS', 'visionOS']

/**
 * Returns the form of a user agent that the frameworks of applications for people write: iOS and macOS for an application's own requests,
 * Electron, and a WebView. A crawler also says what it is: by a link, or as `compatible`.
 */
export function applicationForm(text: string): ApplicationForm | undefined {
  if (text.includes('://') || text.includes('compatible')) return undefined
  const has = (...parts: readonly string[]) => parts.every((part) => text.includes(part))
  if (has(' Chrome/', ' Electron/')) return 'electron'
  const isAppleLibrary = has('; Scale/') && SYSTEMS.some((system) => has(`; ${system} `))
  const isNative = has(' CFNetwork/', ' Darwin/') || isAppleLibrary || has(') Alamofire/') || has(' (Mac OS X Version ')
  return isNative || has('; wv)', ' Version/4.0 ') || isWebViewOfIos(text) || isWebViewOfMac(text)
    ? 'native'
    : undefined
}

/** Safari names itself; a WebView there names no browser at all. */
function isWebViewOfIos(text: string): boolean {
  return (
    /^Mozilla\/5\.0 \(iP(?:hone|ad)/.test(text) &&
    text.includes(' Mobile/') &&
    !/Safari|Version|CriOS|Chrome/.test(text)
  )
}

/** Reports whether a WebView of a Mac, which names neither Chrome nor Safari, is named: an application appends its own name. */
export function isWebViewOfMac(text: string): boolean {
  return (
    /^Mozilla\/[^(]*\(Macintosh/.test(text) &&
    text.includes('AppleWebKit/') &&
    !/Chrom(?:e|ium)|Safari|Version/.test(text)
  )
}
