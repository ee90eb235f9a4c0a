import t from 'tap'
import { readCookie, readSolution, redeem, visit } from '../hosts/challenge-client.ts'
import { openOrigin, pickLength, startGate } from './gate.ts'

/* People share an address with senders of wrong solutions, and a browser with one another: each has a pass at the first try. */
const PEOPLE = 40
const WRONG = pickLength(4, 1)
const ADDRESSES = {
  'an exit of a VPN': '45.83.220.10',
  'an address of an office': '93.184.216.34',
  'a network of IPv6': '2a02:8106:1:2::3',
}

for (const [name, address] of Object.entries(ADDRESSES).slice(0, pickLength(3, 1))) {
  t.test(`${PEOPLE} people behind ${name} beside senders of wrong solutions`, async (t) => {
    const gate = await startGate(t, await openOrigin(t), {
      trustProxy: ['loopback'],
      policy: {
        preset: 'observe',
        rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }],
      },
    })
    const askChallenge = async () => readSolution(await visit(gate, { address })).split('.', 1)[0]
    const kept = await askChallenge()
    let wrong = 0
    const sendWrong = async (challenge: string | undefined) => {
      const numbers = Array.from({ length: 32 }, () => wrong)
      const { status } = await redeem(gate, `${challenge}.${numbers}`, { address })
      t.not(status, 204, `wrong solution ${++wrong}`)
    }
    for (let person = 0; person < PEOPLE; person++) {
      for (let turn = 0; turn < WRONG; turn++) {
        await sendWrong(kept)
        await sendWrong(await askChallenge())
      }
      const page = await visit(gate, { address })
      const given = await redeem(gate, readSolution(page), { address })
      const { status } = await visit(gate, { address, cookie: readCookie(given) })
      t.strictSame([page.status, given.status, status], [403, 204, 200], `person ${person}`)
    }
  })
}
