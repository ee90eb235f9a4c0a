/** The form of an application for people: in `electron` it is a browser too, which an agent of its own may steer. */
export type ApplicationForm = 'electron' | 'native'

/** Systems that the library of most applications of Apple's devices names: `Name/1.0 (iPad; iPadOS 17.5; Scale/2.00)`. */
const SYSTEMS: readonly string[] = ['iOS', 'iPadOS', 'tvOS', 'watchOS', 'visionOS']

/**
 * The form of a user agent that is written as the frameworks write it in which applications for people are made: iOS and macOS for
 * what an application fetches itself, Electron, and a WebView. A crawler says besides what it is: by a link, or as `compatible`.
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

/** Whether it is a WebView of a Mac, which names neither Chrome nor Safari: an application puts its own name behind it. */
export function isWebViewOfMac(text: string): boolean {
  return (
    /^Mozilla\/[^(]*\(Macintosh/.test(text) &&
    text.includes('AppleWebKit/') &&
    !/Chrom(?:e|ium)|Safari|Version/.test(text)
  )
}
