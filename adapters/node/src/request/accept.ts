/** True when the request would rather have HTML than JSON (RFC 9110 12.5.1), as a browser that navigates would. */
export function prefersHtml(fields: readonly string[]): boolean {
  const ranges: string[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i]?.toLowerCase() === 'accept') ranges.push(...(fields[i + 1] as string).toLowerCase().split(','))
  }
  return quality(ranges, 'text', 'html') > quality(ranges, 'application', 'json')
}

/** Quality of a media type, 0 to 1: what the most exact range that matches it says. */
function quality(ranges: readonly string[], type: string, subtype: string): number {
  const order = [`${type}/${subtype}`, `${type}/*`, '*/*']
  let best = order.length
  let found = 0
  for (const range of ranges) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    const rank = order.indexOf(name)
    if (rank < 0 || rank >= best) continue
    best = rank
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    const value = weight === undefined ? 1 : Number(weight.slice(2))
    found = value >= 0 && value <= 1 ? value : 0
  }
  return found
}
