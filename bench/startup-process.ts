/*
 * `node startup-process.js node|maxmind|sallyport FOLDER CITY`: starts, and says how long it took since the process began
 * and what is resident then. Imports are part of it, so each is imported only where it is asked for.
 */
const [kind = '', dataDir = '', city] = process.argv.slice(2)

async function start(): Promise<unknown> {
  if (kind === 'sallyport') {
    const { open } = await import('@sallyport/open')
    return open({ dataDir, data: { refresh: false, city: city === 'true' } })
  }
  if (kind === 'maxmind') {
    const { isCity, resolveSources } = await import('@sallyport/datasets')
    const { open } = await import('maxmind')
    return Promise.all(resolveSources().flatMap((source) => (isCity(source) ? [open(source.file.path)] : [])))
  }
  return undefined
}

/** Exported, so that it is not collected before its memory is counted. */
export const kept = await start()
const milliseconds = performance.now()
const { user, system } = process.cpuUsage()
globalThis.gc?.()
const megabytes = process.memoryUsage().rss / 1e6
process.send?.({ milliseconds, processor: (user + system) / 1000, megabytes }, () => process.exit())
