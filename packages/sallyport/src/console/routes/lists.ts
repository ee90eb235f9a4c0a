import { listHolds, SallyportError } from '@sallyport/core'
import { editList, type ListEdit, placedLists, showList } from '@sallyport/engine'
import { aged } from './health.ts'
import { get, post } from './route.ts'

const SHOWN = 200

/** Serves the lists that rules name, with their entries, and changes lists in files. */
export const LIST_ROWS = [
  get('lists', { takes: ['q'] }, ({ asked: { q }, now }, { sallyport }) => {
    const inForce = sallyport.lists()
    const rows = new Map(sallyport.sources().map((source) => [source.id, source]))
    return placedLists(sallyport.config).map((placed) => {
      const [list, source] = [inForce.get(placed.name), rows.get(`list:${placed.name}`)]
      return {
        ...placed,
        source: source === undefined ? null : aged(source, now),
        /** `null` where no text is searched, or the answer is unknown. */
        holds: (q && list && listHolds(list, q)) ?? null,
      }
    })
  }),
  get('lists/*', { takes: ['q'] }, async ({ rest, asked: { q } }, { sallyport }) => {
    const { entries, unread } = await showList(sallyport.config, rest, q || undefined)
    return { entries: [...new Set(entries.slice(0, SHOWN))], found: entries.length, unread }
  }),
  changeRow('add'),
  changeRow('remove'),
]

/** Makes the row of a change to a list; the body has one entry in each line. */
function changeRow<What extends ListEdit['what']>(what: What) {
  return post(
    `lists/${what}`,
    { role: 'steer', takes: ['name', 'entries'] },
    async ({ asked: { name = '', entries: text = '' }, audit }, { sallyport }) => {
      const lines = text.split('\n').map((line) => line.trim())
      const entries = lines.filter((line) => line !== '')
      if (entries.length === 0) throw new SallyportError('invalid_request', 'entries: is missing')
      const changed = await editList(sallyport.config, name, { what, entries })
      audit(`list ${what}`, { name, entries })
      return { name, changed }
    },
  )
}
