import { SallyportError } from '@sallyport/core'
import { openUpdates } from '@sallyport/engine'
import { aged } from './health.ts'
import { get, post } from './route.ts'

/** Serves the data on which verdicts rest. */
export function dataRows() {
  const running = { update: false }
  return [
    get('data', {}, ({ now }, { sallyport }) => ({
      refresh: sallyport.config.data.refresh,
      readOnly: sallyport.config.data.readOnly,
      updating: running.update,
      sources: sallyport.sources().map((source) => aged(source, now)),
    })),
    post('data/update', { role: 'steer', takes: ['source'] }, async ({ asked, audit }, { sallyport }) => {
      if (sallyport.config.data.readOnly) throw new SallyportError('invalid_request', 'data.readOnly forbids writing.')
      if (running.update) throw new SallyportError('invalid_request', 'An update is already running.')
      running.update = true
      try {
        const outcomes = await openUpdates(sallyport.config).update(asked)
        audit('data update', { ...asked, outcomes: outcomes.length })
        return { outcomes }
      } finally {
        running.update = false
      }
    }),
  ]
}
