import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Change } from '../../src/nft/change.ts'
import { openListener } from '../../src/nft/listener.ts'

async function listening(t: Test, apply: (changes: readonly Change[]) => Promise<boolean>) {
  // The path of a socket is short.
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-nft-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'socket')
  const server: Server = await openListener(path, apply)
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  /** The answer until the other side ends the connection, or has answered so many lines. */
  const said = async (text: string, lines = Number.POSITIVE_INFINITY): Promise<string> => {
    const socket = connect(path)
    sockets.push(socket)
    socket.write(text)
    let answer = ''
    for await (const part of socket) {
      answer += part
      if (answer.split('\n').length > lines) break
    }
    return answer
  }
  return { path, said, server }
}

t.test('each line is answered in its order, many at a time, and others wait for their turn', async (t) => {
  const batches: number[] = []
  const { said } = await listening(t, async (changes) => {
    batches.push(changes.length)
    return !changes.some(({ element }) => element.text === '192.0.2.9')
  })
  t.equal(await said('add 192.0.2.1 600\ndel 192.0.2.2\n', 2), 'ok\nok\n')
  t.equal(await said('add 192.0.2.9 600\n', 1), 'failed\n')
  batches.length = 0
  t.equal(await said('del 192.0.2.1\n'.repeat(1_200), 1_200), 'ok\n'.repeat(1_200))
  t.equal(
    batches.reduce((sum, count) => sum + count, 0),
    1_200,
  )
  t.ok(Math.max(...batches) <= 500)
})

t.test('a line of another form ends its connection, and nothing of that part is done', async (t) => {
  const seen: Change[] = []
  const { said } = await listening(t, async (changes) => {
    seen.push(...changes)
    return true
  })
  for (const text of [
    'add 192.0.2.1 600\nflush ruleset\n',
    'x'.repeat(65),
    `${'x'.repeat(1_000_000)}\n`,
    '\0\0\0\0\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  ]) {
    t.equal(await said(text).catch(() => ''), '', JSON.stringify(text.slice(0, 20)))
  }
  t.same(seen, [])
  t.equal(await said('add 192.0.2.1 600\n', 1), 'ok\n', 'the next one is served')
})

t.test('nothing more is done for a program that does not take its answers', async (t) => {
  const state: { far?: Socket | undefined } = {}
  let early = 0
  let done = 0
  const { path, server } = await listening(t, async (changes) => {
    if (state.far?.writableNeedDrain) early++
    done += changes.length
    return true
  })
  server.once('connection', (socket) => {
    state.far = socket
  })
  const lines = 200_000
  const socket = connect(path)
  t.teardown(() => socket.destroy())
  socket.write('del 192.0.2.1\n'.repeat(lines))
  while (!state.far?.writableNeedDrain) await nextTurn()
  t.ok(done < lines, `${done} lines were done when the socket was full`)
  let answer = 0
  for await (const part of socket) {
    answer += part.length
    if (answer === 3 * lines) break
  }
  t.same([done, early], [lines, 0])
})

t.test('its socket is open to its user and its group, and one that was left is taken away', async (t) => {
  const { path } = await listening(t, async () => true)
  t.equal(statSync(path).mode & 0o777, 0o660)
  await t.rejects(
    openListener(path, async () => true),
    /another helper listens/,
  )
  const file = `${path}.file`
  writeFileSync(file, 'mine')
  await t.rejects(
    openListener(file, async () => true),
    /is not a socket/,
  )
})

t.test('a seventeenth program is turned away', async (t) => {
  const { path } = await listening(t, async () => true)
  const sockets = Array.from({ length: 17 }, () => connect(path).on('error', () => {}))
  await Promise.race(sockets.map((socket) => once(socket.resume(), 'close')))
  t.equal(sockets.filter(({ closed }) => closed).length, 1)
  for (const socket of sockets) socket.destroy()
})
