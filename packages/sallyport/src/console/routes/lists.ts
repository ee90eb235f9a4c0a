import { listHolds, SallyportError } from '@sallyport/core'
import { editList, type ListEdit, placedLists, showList } from '@sallyport/engine'
import { aged } from './health.ts'
import { type Call, type ConsoleParts, row } from './route.ts'
import { readMember, trimText } from './values.ts'

const SHOWN = 200
const MAX_ENTRIES = 32_768

/** Serves the lists that rules name, with their entries, and changes lists in files. */
export const LIST_ROWS = [
  row({
    method: 'GET',
    path: 'lists',
    role: 'read',
    takes: ['q'],
    answer({ query, now }, { sallyport }) {
      const wanted = trimText(query.get('q'))
      const inForce = sallyport.lists()
      const rows = new Map(sallyport.sources().map((source) => [source.id, source]))
      return placedLists(sallyport.config).map((placed) => {
        const [list, source] = [inForce.get(placed.name), rows.get(`list:${placed.name}`)]
        return {
          ...placed,
          source: source === undefined ? null : aged(source, now),
          /** `null` where no text is searched, or the answer is unknown. */
          holds: (wanted !== '' && list && listHolds(list, wanted)) ?? null,
        }
      })
    },
  }),
  row({
    method: 'GET',
    path: 'lists/*',
    role: 'read',
    takes: ['q'],
    async answer({ rest, query }, { sallyport }) {
      const wanted = trimText(query.get('q'))
      const { entries, unread } = await showList(sallyport.config, rest, wanted === '' ? undefined : wanted)
      return { entries: [...new Set(entries.slice(0, SHOWN))], found: entries.length, unread }
    },
  }),
  row({
    method: 'POST',
    path: 'lists/add',
    role: 'steer',
    takes: ['name', 'entries'],
    answer: (call, parts) => change('add', call, parts),
  }),
  row({
    method: 'POST',
    path: 'lists/remove',
    role: 'steer',
    takes: ['name', 'entries'],
    answer: (call, parts) => change('remove', call, parts),
  }),
]

/** Changes a list; the body has one entry in each line. */
async function change(what: ListEdit['what'], { body, audit }: Call<'name' | 'entries'>, { sallyport }: ConsoleParts) {
  const given = await body()
  const name = readMember(given, 'name') ?? ''
  const lines = (readMember(given, 'entries', MAX_ENTRIES) ?? '').split('\n').map((line) => line.trim())
  const entries = lines.filter((line) => line !== '')
  if (entries.length === 0) throw new SallyportError('invalid_request', 'entries: is missing')
  const changed = await editList(sallyport.config, name, { what, entries })
  audit(`list ${what}`, { name, entries })
  return { name, changed }
}
