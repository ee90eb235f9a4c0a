import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { followedText, linesOf } from '../../src/cli/log/lines.ts'

t.test('letters of several bytes are whole, wherever a file that is followed is cut', async (t) => {
  const file = join(t.testdir(), 'decisions.log')
  // Each letter has three bytes: pieces of 64 KiB end within one.
  const long = '門'.repeat(20_000)
  const bytes = Buffer.from(`${long}\n${long}\n日`)
  writeFileSync(file, bytes.subarray(0, -1))
  let pauses = 0
  const text = followedText(file, () => {
    pauses++
    if (pauses === 1) appendFileSync(file, Buffer.concat([bytes.subarray(-1), Buffer.from('\n')]))
  })
  const lines: (string | undefined)[] = []
  for await (const line of linesOf(text)) if (lines.push(line) === 3) break
  t.same(lines, [long, long, '日'])
})
