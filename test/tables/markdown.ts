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

export function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}

export function value(given: unknown): string {
  if (typeof given === 'string') return code(given === '' ? '""' : given)
  return code(JSON.stringify(given).replaceAll(',', ', '))
}

const TABLE = /^(<!-- table: ([a-z-]+), written by npm run tables -->)$([\s\S]*?)^(<!-- end of table -->)$/gm

/** The tables of a document by their names, as they are between its marks. */
export function tablesIn(document: string): ReadonlyMap<string, string> {
  const found = [...document.matchAll(TABLE)].map(([, , name = '', text = '']) => [name, text.trim()] as const)
  if (found.length !== document.split(/^<!-- table: /m).length - 1) throw new Error('A table has no end.')
  return new Map(found)
}

/** The document with every table that `findTable` knows in the place of the one between its marks. */
export function withTables(document: string, findTable: (name: string) => string | undefined): string {
  return document.replaceAll(TABLE, (_, begin: string, name: string, before: string, end: string) =>
    [begin, findTable(name) ?? before.trim(), end].join('\n\n'),
  )
}
