import { open, openUpdates } from '../../src/open/index.ts'

/* A process that updates and compiles over and over, until it is killed. */
const config = JSON.parse(process.argv[2] ?? '{}')
process.send?.('started')
for (;;) {
  await openUpdates(config).update()
  await (await open(config)).close()
}
