import type { Reason, Snapshots } from '@sallyport/core'
import { readMailDomains } from '../parse/mail-domains.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { readSource } from '../sources/source-file.ts'

/** Lists of domains that give throwaway mail. */
export interface MailDomains {
  readonly lists: readonly Pick<Reason, 'source' | 'date'>[]
  /** Finds the list that has a host, or a domain above it down to the registrable one. */
  find(host: string, domain: string): Pick<Reason, 'source' | 'date'> | undefined
}

interface MailList {
  readonly dated: Pick<Reason, 'source' | 'date'>
  readonly domains: ReadonlySet<string>
}

/** Reads the lists on first use, and again when another copy of one is loaded; returns `undefined` when no list is loaded. */
export function createMailDomains(
  snapshots: Snapshots,
  resolve: () => readonly ResolvedSource[],
): () => MailDomains | undefined {
  let seen: unknown
  let copies = ''
  let lists: readonly MailList[] = []

  function read(): void {
    const { sources } = snapshots.current()
    if (sources === seen) return
    seen = sources
    const loaded = new Map(sources.flatMap(({ id, date, sha256 }) => (sha256 === undefined ? [] : [[id, date]])))
    const found = resolve().flatMap(({ row, file }) =>
      row.kind === 'throwaway-mail' && file !== undefined && loaded.has(row.id) ? [{ row, file }] : [],
    )
    const now = JSON.stringify(found.map(({ file }) => file))
    if (now === copies) return
    copies = now
    try {
      lists = found.map(({ row, file }) => {
        const date = loaded.get(row.id)
        const domains = readMailDomains(row, { path: file.path, bytes: readSource(file) })
        return { dated: { source: row.id, ...(date !== undefined && { date }) }, domains }
      })
    } catch {
      // A file that was replaced meanwhile: the next snapshot has the other one.
      copies = ''
    }
  }

  return () => {
    read()
    if (lists.length === 0) return undefined
    return { lists: lists.map(({ dated }) => dated), find: (host, domain) => findList(lists, host, domain)?.dated }
  }
}

function findList(lists: readonly MailList[], host: string, domain: string): MailList | undefined {
  for (let name = host; name.length >= domain.length; name = name.slice(name.indexOf('.') + 1)) {
    const found = lists.find(({ domains }) => domains.has(name))
    if (found !== undefined || name === domain) return found
  }
  return undefined
}
