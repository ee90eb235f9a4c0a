import { ACCOUNT_EVENTS, ACCOUNT_FACTS, MAIL_FACTS } from '../../values/account-event.ts'
import { anyWord, someFlags } from '../language/values.ts'
import { joinTests, type Test, testValue, word } from './match-word.ts'

/** Holds conditions on an event of a user's account: a rule with such a condition is evaluated for events alone. */
export const ACCOUNT_WORDS = {
  event: word('Account events passed to accounts.assess()', anyWord(ACCOUNT_EVENTS), {
    asks: 'request',
    example: ['login'],
    test: (given) => testValue(given, ({ event }) => event?.event),
  }),
  mail: word("Facts about the event's email address", someFlags(MAIL_FACTS), {
    asks: 'request',
    example: { disposable: true },
    test: (given) => testFacts(given, ({ event }) => event?.mail, undefined),
  }),
  account: word("Facts about the event's account", someFlags(ACCOUNT_FACTS), {
    asks: 'request',
    example: { known: false },
    test(given, { action }) {
      // A missing memory refuses no client, and a guesser is still challenged.
      const isMild = action === 'flag' || action === 'challenge'
      return testFacts(given, ({ event }) => event?.account, isMild ? 'known' : undefined)
    },
  }),
}

/** Every given fact must have the given value; an unknown fact leaves it open, and then `denied` counts as false. */
function testFacts<Facts extends object>(
  given: Facts,
  read: (inspection: Parameters<Test>[0]) => Facts | undefined,
  denied: keyof Facts | undefined,
): Test {
  const tests = Object.entries(given).map(
    ([name, value]): Test =>
      (inspection) => {
        const facts = read(inspection)
        if (facts === undefined) return false
        const fact: unknown = facts[name as keyof Facts] ?? (name === denied ? false : undefined)
        return fact === undefined ? undefined : fact === value
      },
  )
  return joinTests(tests)
}
