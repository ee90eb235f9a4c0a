import { readColumns } from './json.ts'
import type { AccessFormat } from './reading.ts'

/** Reads the extended format of W3C, as IIS and CloudFront write it: a line `#Fields:` names the columns of the next lines. */
export const W3C_FORMAT: AccessFormat = {
  name: 'w3c',
  open(_first, _isNamed, trust) {
    let columns: readonly string[] = []
    return (line) => {
      if (line.startsWith('#')) {
        const [, name, value = ''] = /^#([A-Z][A-Za-z-]+):(.*)$/.exec(line) ?? []
        if (name === 'Fields') columns = value.trim().split(/\s+/)
        return name === undefined ? undefined : 'comment'
      }
      // CloudFront puts tabs between columns, IIS puts spaces.
      const cells = line.trimEnd().split(line.includes('\t') ? '\t' : ' ')
      if (cells.length !== columns.length) return undefined
      return readColumns(Object.fromEntries(columns.map((name, at) => [name, cells[at]])), trust)
    }
  },
}
