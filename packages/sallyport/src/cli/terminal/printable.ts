/** Letters that steer a terminal or its reader: controls of C0 and C1, and formats of Unicode, which turn a line or are not seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Styles that this program itself writes: bold, dim, red, yellow, and their ends. None hides a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const STYLE = /(\u001b\[(?:1|2|22|31|33|39)m)/

/** A text of strangers for a terminal: what would control it is shown as an escape. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (letter) => {
    const code = (letter.codePointAt(0) ?? 0).toString(16)
    if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`
  })
}

/** A message in which strangers' texts may be, and no style of ours: its lines stay. */
export function printableMessage(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** A cell or line of ours in which strangers' texts may be: styles stay. */
export function printableLine(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('')
}

/** Whole lines of ours, as everything that a command writes: styles, line ends and tabs stay. */
export function printableLines(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part, index) => (index % 2 === 0 ? printableLine(part) : part))
    .join('')
}

/** A value of JSON whose texts, and names of members, are printable. */
export function printableValue<Value>(value: Value): Value {
  return cleaned(value) as Value
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return printable(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [printable(name), cleaned(member)]))
}

/** JSON that says the same and holds nothing unprintable: of control characters JSON itself escapes the first 32 alone. */
export function printableJson(value: unknown, indent?: number): string {
  return printableEscapes(JSON.stringify(value, null, indent))
}

function printableEscapes(text: string): string {
  return text.replace(UNPRINTABLE, (letter) =>
    letter === '\n'
      ? letter
      : Array.from({ length: letter.length }, (_, at) => {
          return `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`
        }).join(''),
  )
}
