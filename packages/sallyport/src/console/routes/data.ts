import { SallyportError } from '@sallyport/core'
import { openUpdates } from '@sallyport/engine'
import { aged } from './health.ts'
import { row } from './route.ts'
import { readMember } from './values.ts'

/** Serves the data on which verdicts rest. */
export function dataRows() {
  const running = { update: false }
  return [
    row({
      method: 'GET',
      path: 'data',
      role: 'read',
      answer: ({ now }, { sallyport }) => ({
        refresh: sallyport.config.data.refresh,
        readOnly: sallyport.config.data.readOnly,
        updating: running.update,
        sources: sallyport.sources().map((source) => aged(source, now)),
      }),
    }),
    row({
      method: 'POST',
      path: 'data/update',
      role: 'steer',
      takes: ['source'],
      async answer({ body, audit }, { sallyport }) {
        const source = readMember(await body(), 'source', 100)
        if (sallyport.config.data.readOnly)
          throw new SallyportError('invalid_request', 'data.readOnly forbids writing.')
        if (running.update) throw new SallyportError('invalid_request', 'An update is already running.')
        running.update = true
        try {
          const outcomes = await openUpdates(sallyport.config).update(source === undefined ? {} : { source })
          audit('data update', { source, outcomes: outcomes.length })
          return { outcomes }
        } finally {
          running.update = false
        }
      },
    }),
  ]
}
