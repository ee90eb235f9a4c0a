import { loadTables } from '@sallyport/datasets'

// Run by lookup.ts in a process of its own: what loading alone takes, and how much memory stays.
const collect = globalThis.gc ?? (() => {})
collect()
const before = process.memoryUsage().rss
const start = performance.now()
const tables = loadTables(process.argv[2] as string)
const milliseconds = performance.now() - start
collect()
const megabytes = (process.memoryUsage().rss - before) / 1e6
console.log(`${milliseconds.toFixed(1)} ms, ${megabytes.toFixed(1)} MB more, ${tables.systems?.size} systems`)
