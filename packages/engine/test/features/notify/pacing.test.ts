import t from 'tap'
import { createPacing, PACE_MS, type Paced } from '../../../src/features/notify/pacing.ts'
import type { ServiceEvent } from '../../../src/service/event.ts'
import { DOWN, UP } from './events.ts'

/** A pacing whose clock the test moves. */
function paced() {
  let time = 1_000_000
  const leftOut: string[] = []
  const pacing = createPacing(
    () => time,
    ({ text }) => void leftOut.push(text),
  )
  const brief = ({ event, leftOut }: Paced) => `${event.text} +${leftOut}`
  return {
    leftOut,
    pass: (minutes: number) => {
      time += minutes * 60_000
    },
    offer: (event: ServiceEvent) => {
      const sent = pacing.offer(event)
      return sent && brief(sent)
    },
    due: () => pacing.due().map(brief),
    wait: () => pacing.wait,
  }
}

const ban = (text: string, about = 'strikes'): ServiceEvent => ({ kind: 'ban', about, text })

t.test('one of a kind and subject an hour; the next says how many were left out', async (t) => {
  const { offer, due, pass, leftOut, wait } = paced()
  t.equal(offer(ban('one')), 'one +0')
  t.equal(offer(ban('other', 'scanner-guard')), 'other +0', 'another subject is limited apart')
  for (const text of ['two', 'three', 'four']) t.equal(offer(ban(text)), undefined)
  t.same([leftOut, wait(), due()], [['two', 'three'], PACE_MS, []])
  pass(60)
  t.same(due(), ['four +2'], 'the latest, once the hour is over')
  t.same([due(), wait()], [[], undefined])
  pass(59)
  t.equal(offer(ban('five')), undefined)
  pass(60)
  t.same(due(), ['five +0'])
})

t.test('an end is said at once, and only where the trouble was', async (t) => {
  const { offer, pass, due, leftOut, wait } = paced()
  t.equal(offer(UP), undefined, 'nobody knows of any trouble')
  t.equal(offer(DOWN), `${DOWN.text} +0`)
  t.equal(offer(DOWN), undefined, 'what is noticed twice is said once')
  t.same([leftOut, wait()], [[], undefined])
  pass(1)
  t.equal(offer(UP), `${UP.text} +0`)
  t.equal(offer(UP), undefined)
  pass(1)
  // Down and up again within the hour: as it was said last.
  t.same([offer(DOWN), offer(UP)], [undefined, undefined])
  t.same([leftOut, wait()], [[DOWN.text, UP.text], undefined])
  pass(1)
  // The last state is never left unsaid.
  t.equal(offer(DOWN), undefined)
  pass(57)
  t.same(due(), [`${DOWN.text} +2`])
  pass(60)
  t.equal(offer(DOWN), `${DOWN.text} +0`, 'after an hour it is news')
})
