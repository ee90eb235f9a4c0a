/** Matches letters that control a terminal or mislead its reader: controls of C0 and C1, and invisible or reordering formats of Unicode. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Matches the styles that this program writes: bold, dim, red, yellow, and their ends. No style hides text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const STYLE = /(\u001b\[(?:1|2|22|31|33|39)m)/

/** Makes a client's text safe for a terminal: shows control characters as escapes. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (letter) => {
    const code = (letter.codePointAt(0) ?? 0).toString(16)
    if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`
  })
}

/** Makes a message safe that may contain clients' texts, and none of our styles; its lines stay. */
export function printableMessage(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Makes a cell or line of ours safe that may contain clients' texts; styles stay. */
export function printableLine(text: string): string {
  return cleanBetween(text, STYLE, printable)
}

/** Makes whole lines of ours safe, as everything that a command writes: styles, line ends and tabs stay. */
export function printableLines(text: string): string {
  return cleanBetween(text, /([\n\t])/, printableLine)
}

function cleanBetween(text: string, kept: RegExp, clean: (part: string) => string): string {
  const parts = text.split(kept)
  return parts.map((part, at) => (at % 2 === 0 ? clean(part) : part)).join('')
}

/** Makes a JSON value safe, including texts and names of members. */
export function printableValue<Value>(value: Value): Value {
  return clean(value) as Value
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [printable(name), clean(member)]))
}

/** Writes equivalent JSON without unprintable characters: JSON itself escapes only the first 32 control characters. */
export function printableJson(value: unknown, indent?: number): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(UNPRINTABLE, (letter) =>
    letter === '\n' ? letter : letter.split('').map(escapeUnit).join(''),
  )
}
