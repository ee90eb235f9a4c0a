import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'

/** Made answers of registries: the top-level domain, or the registry that says it, the state, and the answer. */
const ANSWERS = readFileSync(join(import.meta.dirname, '../../../test/whois/states.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as [registry: string, state: string, answer: string])

for (const state of new Set(ANSWERS.map(([, expected]) => expected))) {
  t.test(`every answer that says ${state} is read as ${state}`, async (t) => {
    const wrong = ANSWERS.filter(([, expected]) => expected === state).flatMap(([registry, , answer]) =>
      [answer, answer.replaceAll('\n', '\r\n')]
        .map((text) => [registry, text.slice(0, 60), parseWhoisText(text).state])
        .filter(([, , read]) => read !== state),
    )
    t.strictSame(wrong, [])
  })
}
