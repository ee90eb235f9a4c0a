import type { Feature } from '#service'
import { examineLists } from './examine.ts'
import { listFaults } from './faults.ts'
import { keys } from './keys.ts'

export type { KeptList } from './kept-list.ts'
export { isInline, type ListsOfConfig } from './list-config.ts'
export { editList, type ListEdit, type PlacedList, placedLists, type ShownList, showList } from './list-edit.ts'
export { openLists } from './lists.ts'
export { listNames, readKeptLists, readLists } from './read-lists.ts'

/** Lists of addresses, systems and patterns that policies name. */
export const feature: Feature<typeof keys> = {
  keys,
  command: 'list',
  faults: listFaults,
  examine: examineLists,
}
