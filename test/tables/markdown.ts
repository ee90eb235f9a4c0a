/** A table of Markdown; a cell may have no line break. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Joins rows that differ in their first cell only. */
export function joinAlike(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const alike = new Map<string, { readonly cells: readonly string[]; readonly names: string[] }>()
  for (const [name = '', ...cells] of lines) {
    const row = alike.get(JSON.stringify(cells)) ?? { cells, names: [] }
    row.names.push(name)
    alike.set(JSON.stringify(cells), row)
  }
  return [...alike.values()].map(({ cells, names }) => [names.join(', '), ...cells])
}

/** Escapes text outside of a table: `<`, `*` and line breaks become harmless. */
export function text(plain: string): string {
  return plain.replaceAll('<', '\\<').replaceAll('*', '\\*').replaceAll('\n', ' ')
}

/** Escapes text for a cell, which `|` would end. */
export function cell(plain: string): string {
  return text(plain).replaceAll('|', '\\|')
}

/** Writes code into a cell. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}

/** A value as it is written in YAML. */
export function value(given: unknown): string {
  if (typeof given === 'string') return code(given === '' ? '""' : given)
  return code(JSON.stringify(given).replaceAll(',', ', '))
}

const BEGIN = /^<!-- table: ([a-z-]+), written by npm run tables -->$/
const END = '<!-- end of table -->'

/** The tables of a document by their names, as they are between its marks. */
export function tablesIn(document: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  splice(document, (name, before) => {
    found.set(name, before)
    return before
  })
  return found
}

/** The document with every table that `textOf` knows in the place of the one between its marks. */
export function withTables(document: string, textOf: (name: string) => string | undefined): string {
  return splice(document, (name, before) => textOf(name) ?? before)
}

function splice(document: string, replace: (name: string, before: string) => string): string {
  const out: string[] = []
  let held: { readonly name: string; readonly lines: string[] } | undefined
  for (const line of document.split('\n')) {
    const [, name] = BEGIN.exec(line) ?? []
    if (held !== undefined && line === END) {
      out.push('', replace(held.name, held.lines.join('\n').trim()), '', line)
      held = undefined
    } else if (held !== undefined) held.lines.push(line)
    else {
      out.push(line)
      if (name !== undefined) held = { name, lines: [] }
    }
  }
  if (held !== undefined) throw new Error(`The table ${held.name} has no end.`)
  return out.join('\n')
}
