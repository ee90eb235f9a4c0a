import type { AuditLine } from '@sallyport/engine'
import type { Share } from '../shares/share.ts'
import { get } from './route.ts'

const SHOWN = 200

const REMEMBERED: Share<object, readonly AuditLine[]> = { name: 'audit', own: (_, { trail }) => trail.remembered() }

/** Serves what operators did, the newest action first. */
export const AUDIT_ROWS = [
  get('audit', { shares: [REMEMBERED] }, async (_, { gather, trail, sallyport }) => {
    const [{ shares, silent }, written] = await Promise.all([gather(REMEMBERED, {}), trail.written()])
    const actions = [...shares.flat(), ...written].toSorted((x, y) => y.time.localeCompare(x.time)).slice(0, SHOWN)
    return { actions, silent, isKept: !sallyport.config.data.readOnly }
  }),
]
