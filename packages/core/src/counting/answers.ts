import type { CountingRule } from '../values/counting.ts'
import type { Inspection } from '../values/inspection.ts'

/** Matches HTML and Markdown, and a missing type, which browsers read as HTML. */
const PAGE_TYPE = /^\s*(?:$|text\/(?:html|markdown)\b|application\/(?:[\w.-]+[.+])?xhtml\+xml\b)/i

/** Reports whether a limit of failures or of pages counts a response. Errors and redirects are no pages. */
export function isCounted({ limit }: CountingRule, status: number, contentType = ''): boolean {
  if (limit?.counts === 'failure') return limit.failures?.includes(status) === true
  return status >= 200 && status < 300 && status !== 204 && status !== 205 && PAGE_TYPE.test(contentType)
}

/** Styles, scripts, images, fonts, sound and film have these extensions; a browser loads dozens of them for one page. */
const FILES: ReadonlySet<string> = new Set(
  (
    'css js mjs map wasm webmanifest png jpg jpeg jxl gif webp avif svg ico bmp woff woff2 ttf otf eot ' +
    'mp3 mp4 m4a m4s m4v webm oga ogg ogv opus wav ts m3u8 vtt'
  ).split(' '),
)

/** Reports whether a path ends in the extension of a static file, however an origin reads it. */
export function isFile({ path, readings }: Inspection['request']): boolean {
  return hasExtension(path) && (readings === undefined || (readings.length > 0 && readings.every(hasExtension)))
}

function hasExtension(path: string): boolean {
  const dot = path.lastIndexOf('.')
  return dot !== -1 && FILES.has(path.slice(dot + 1).toLowerCase())
}
