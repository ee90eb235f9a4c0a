import { open } from '@sallyport/engine'
import fc from 'fast-check'
import { makeQuietConfig } from '../hosts/without-data.ts'
import { mutatedText } from './mutations.ts'
import { fuzzTarget, inTime } from './target.ts'

/* Requests' own fields, and those that a caller of /v1 sends: a decision or a 4xx, and never a fault. */

const VALUES: Readonly<Record<string, readonly string[]>> = {
  'user-agent': [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    'GPTBot/1.2',
  ],
  'sec-ch-ua': ['"Chromium";v="150", "Not A;Brand";v="99"'],
  'x-forwarded-for': ['8.8.8.8, 10.0.0.1', '[2001:db8::1]:5, unknown'],
  forwarded: ['for="[2001:db8::1]:5";proto=https, for=8.8.8.8'],
  'signature-input': ['a=("@authority" "signature-agent");created=1;keyid="x";expires=9999999999;tag="web-bot-auth"'],
  signature: ['a=:AAAA:'],
  'signature-agent': ['"https://chatgpt.com"', 'a="https://chatgpt.com"'],
  accept: ['text/html,*/*;q=0.8'],
  'accept-language': ['de-DE,de;q=0.9'],
  cookie: ['a=b; c=d'],
  via: ['1.1 made'],
  host: ['a.example:80'],
}

const field = fc.oneof(
  fc
    .constantFrom(...Object.keys(VALUES))
    .chain((name) => mutatedText(VALUES[name] ?? []).map((value) => [name, value] as const)),
  fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 40 })),
)

interface Told {
  readonly fields: readonly (readonly [string, string])[]
  readonly target: string
  readonly method: string
}

export const headers = fuzzTarget<Told>('headers', async () => {
  const faults: unknown[] = []
  const sallyport = await open(makeQuietConfig(undefined, { policy: { preset: 'protect-content' } }), {
    onFault: (error) => faults.push(error),
    onNotice: () => {},
  })
  return {
    inputs: fc.record({
      fields: fc.array(field, { maxLength: 12 }),
      target: mutatedText(['/a/%2e%2e/b;c?d=e#f', '/admin//x%00', 'http://a.example/x', '*']),
      method: fc.constantFrom('GET', 'POST', 'get', ''),
    }),
    check({ fields, ...head }) {
      const about = { peer: '127.0.0.1', scheme: 'http', httpVersion: '1.1' } as const
      const decision = inTime('a decision', () => sallyport.decide({ ...about, ...head, fields: fields.flat() }))
      JSON.stringify(decision)
      if (faults.length > 0) throw faults[0]
      if (decision.reasons.some(({ id }) => id === 'inspection_failed')) throw new Error('the inspection failed')
    },
    close: () => sallyport.close(),
  }
})
