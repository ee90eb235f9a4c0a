/*
 * Run by imports.ts in a process of its own: `node --expose-gc import-process.js import PACKAGE`, or `open`. Prints the
 * milliseconds that it took, and the megabytes that are resident since.
 */
const [kind = 'open', specifier = ''] = process.argv.slice(2)

function resident(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
  return process.memoryUsage().rss / 1e6
}

async function cost(work: () => Promise<unknown>): Promise<void> {
  const before = resident()
  const begun = performance.now()
  const kept = await work()
  const milliseconds = performance.now() - begun
  console.log(JSON.stringify({ milliseconds, megabytes: resident() - before, kept: typeof kept }))
}

if (kind === 'import') await cost(() => import(specifier))
else {
  const { open } = await import('@sallyport/open')
  await cost(() => open({ data: { refresh: false } }, { onNotice: () => {} }))
}
process.exit(0)
