import { PassThrough } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createUpdateProgress } from '../../src/cli/terminal/update-progress.ts'

/** A stream that is a terminal, or none, and its output. */
function stream(isTTY: boolean) {
  const bytes = new PassThrough()
  const told: string[] = []
  const progress = createUpdateProgress(
    (line) => told.push(line),
    Object.assign(bytes, { isTTY, columns: 100 }) as never,
  )
  return { ...progress, told, written: () => String(bytes.read() ?? '') }
}

t.test('a terminal sees a bar for each source while it comes, and the lines when all is over', async (t) => {
  const { hooks, stop, told, written } = stream(true)
  hooks.onBytes?.('tor-bulk-exit', 2 ** 20, 4 * 2 ** 20)
  hooks.onBytes?.('x4bnet-vpn-ipv4', 3 * 2 ** 20, undefined)
  let bars = written()
  while (!bars.includes('3.0 MB')) {
    await delay(10)
    bars += written()
  }
  t.match(bars, /tor-bulk-exit {2}1\.0 MB/)
  t.match(bars, /x4bnet-vpn-ipv4 {2}3\.0 MB/)
  hooks.onOutcome?.({ source: 'tor-bulk-exit', state: 'updated', entries: 2 })
  t.same(told, [], 'lines among bars that move would be overwritten')
  stop()
  t.same(told, ['tor-bulk-exit: updated, 2 entries'])
})

t.test('elsewhere there are plain lines alone, each when its source is done', async (t) => {
  const { hooks, stop, told, written } = stream(false)
  hooks.onBytes?.('tor-bulk-exit', 1, 2)
  hooks.onOutcome?.({ source: 'tor-bulk-exit', state: 'failed', reason: 'the server answered 404' })
  t.same(told, ['tor-bulk-exit: failed, the server answered 404'])
  stop()
  t.equal(written(), '')
})
