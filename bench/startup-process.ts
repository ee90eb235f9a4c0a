/*
 * `node --expose-gc startup-process.js node|maxmind|sallyport|PACKAGE FOLDER CITY ALONE`: opens data or imports a package, and says how long
 * it took since the process began and what is resident then; where ALONE is `true`, without what was before the import or `open()`.
 */
const [kind = '', dataDir = '', city, alone] = process.argv.slice(2)

async function start(): Promise<unknown> {
  if (kind === 'sallyport') {
    const { open } = await import('@sallyport/engine')
    begun = beginning()
    return open({ dataDir, data: { refresh: false, city: city === 'true' } }, { onNotice: () => {} })
  }
  if (kind === 'maxmind') {
    const { isCity, resolveSources } = await import('@sallyport/engine')
    const { open } = await import('maxmind')
    return Promise.all(resolveSources().flatMap((source) => (isCity(source) ? [open(source.file.path)] : [])))
  }
  return kind === 'node' ? undefined : import(kind)
}

function resident(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
  return process.memoryUsage().rss / 1e6
}

function beginning() {
  const megabytes = alone === 'true' ? resident() : 0
  return { megabytes, milliseconds: alone === 'true' ? performance.now() : 0 }
}

let begun = beginning()
/** Exported, so that it is not collected before its memory is counted. */
export const kept = await start()
const milliseconds = performance.now() - begun.milliseconds
const { user, system } = process.cpuUsage()
const megabytes = resident() - begun.megabytes
process.send?.({ milliseconds, processor: (user + system) / 1000, megabytes }, () => process.exit())
