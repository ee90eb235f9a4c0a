import type { AuditLine } from '@sallyport/engine'
import type { Share } from '../shares/share.ts'
import { row } from './route.ts'

const SHOWN = 200

const REMEMBERED: Share<object, readonly AuditLine[]> = { name: 'audit', own: (_, { trail }) => trail.remembered() }

/** Serves what operators did, the newest action first. */
export const AUDIT_ROWS = [
  row({
    method: 'GET',
    path: 'audit',
    role: 'read',
    shares: [REMEMBERED],
    async answer(_, { gather, trail, sallyport }) {
      const [{ shares, silent }, written] = await Promise.all([gather(REMEMBERED, {}), trail.written()])
      const actions = [...shares.flat(), ...written].toSorted((x, y) => y.time.localeCompare(x.time)).slice(0, SHOWN)
      return { actions, silent, isKept: !sallyport.config.data.readOnly }
    },
  }),
]
