import { parseAddress } from '@sallyport/core'
import { loadCity, loadTables } from '@sallyport/engine'
import { visitorAddresses } from './visitors.ts'

// Run by lookup.ts in a process of its own, `node load.js tables|city FILE`: what loading a compiled file takes, how much
// memory stays, and how much after a hundred thousand visitors, for whom records and texts became objects.
const [kind = '', path = ''] = process.argv.slice(2)
const collect = globalThis.gc ?? (() => {})
const visitors = visitorAddresses(100_000).flatMap((text) => parseAddress(text) ?? [])
const resident = () => {
  collect()
  return process.memoryUsage().rss / 1e6
}

const before = resident()
const start = performance.now()
const loaded = kind === 'city' ? loadCity(path) : loadTables(path)
const milliseconds = performance.now() - start
const after = resident()
if ('read' in loaded) for (const address of visitors) loaded.read(address)
else {
  for (const address of visitors) loaded.networks?.find(address)
  loaded.systems?.named('no such name', 10)
}
console.log(JSON.stringify({ milliseconds, loaded: after - before, used: resident() - before }))
