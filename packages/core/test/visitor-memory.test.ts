import t from 'tap'
import { createVisitorMemory } from '../src/inspection/visitor-memory.ts'

const PEERS = ['127.0.0.1', '10.0.0.1']

const visitor = (peer: string, line: string) => ({ peer, line })

t.test('who is kept is found by the peer and the line, and by nothing else', async (t) => {
  const memory = createVisitorMemory()
  const kept = visitor('127.0.0.1', '8.1.1.1')
  t.equal(memory.find('127.0.0.1', '8.1.1.1'), undefined)
  memory.keep(kept)
  t.equal(memory.find('127.0.0.1', '8.1.1.1'), kept)
  t.equal(memory.find('10.0.0.1', '8.1.1.1'), undefined)
  t.equal(memory.find('127.0.0.1', '8.1.1.2'), undefined)
  t.equal(memory.find('8.1.1.1', ''), undefined, 'a line is no peer')
  const direct = visitor('8.1.1.1', '')
  memory.keep(direct)
  t.equal(memory.find('8.1.1.1', ''), direct)
  const later = visitor('8.1.1.1', '')
  memory.keep(later)
  t.equal(memory.find('8.1.1.1', ''), later, 'the later one of the same')
  memory.forget()
  t.equal(memory.find('8.1.1.1', ''), undefined)
})

t.test('many more than there is room for: nobody is taken for another, and what is kept last is found', async (t) => {
  const memory = createVisitorMemory()
  const all = Array.from({ length: 40_000 }, (_, number) => {
    const line = number % 3 === 0 ? `2001:db8::${number.toString(16)}` : `9.${number & 255}.${number >> 8}.7`
    return visitor(PEERS[number % 2] as string, line)
  })
  let wrong = 0
  let lost = 0
  for (const kept of all) {
    memory.keep(kept)
    if (memory.find(kept.peer, kept.line) !== kept) lost++
  }
  let found = 0
  for (const { peer, line } of all) {
    const known = memory.find(peer, line)
    if (known !== undefined) found++
    if (known !== undefined && (known.peer !== peer || known.line !== line)) wrong++
  }
  t.equal(lost, 0)
  t.equal(wrong, 0)
  t.ok(found > 7_000 && found <= 8_192, `${found} of the 8,192 that there is room for`)
})
