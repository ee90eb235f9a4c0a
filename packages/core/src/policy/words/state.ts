import { clientKey } from '../../counting/keys.ts'
import { hashText } from '../../hash-text.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import { type Bounds, boundsTest, createBounds, testBounds } from '../language/bounds.ts'
import { unknown } from '../language/fault.ts'
import { anyWord, type Shape, type Values } from '../language/values.ts'
import { word } from './match-word.ts'

const SHARE: Values<number> = {
  shape: 'share',
  faults: (share) =>
    share > 0 && share < 1 ? [] : [{ path: [], message: `${unknown(share)}: expected a share between 0 and 1` }],
}

const LEVELS = createBounds('level of a pass', 'level', [1, 2], 3)

const PASS: Values<'none' | Bounds> = {
  shape: Object.assign({ word: 'none' }, LEVELS.shape as Extract<Shape, { readonly members: unknown }>),
  faults: (given) => (given === 'none' ? [] : LEVELS.faults(given)),
}

/** Holds conditions on what surrounds a request: the server, the rules before, robots.txt, and chance. */
export const STATE_WORDS = {
  weight: word('Sum of the weights of earlier matching rules', createBounds('sum of weights', 'points', [5, 20]), {
    asks: 'request',
    test: (given) => testBounds(given, (_, { weight }) => weight),
  }),
  load: word('Load of this server; 1 means that a limit is reached', createBounds('load', 'ratio', [0.8, 1]), {
    asks: 'request',
    mayLack: true,
    test(given, { surroundings: { load } }) {
      const { atLeast = 0, atMost = Number.POSITIVE_INFINITY } = given
      const isWithin = boundsTest(given)
      const isOn = load === undefined || atLeast === 0 ? () => true : load.latch(atLeast)
      return (_, { parts }) => {
        if (parts.load !== undefined) return isWithin(parts.load)
        return load && isOn() && load.now() <= atMost
      }
    },
  }),
  pass: word("Level of the visitor's pass; none: no pass", PASS, {
    asks: 'request',
    mayLack: true,
    example: { atLeast: 1 },
    test(given) {
      const isWithin = boundsTest(given === 'none' ? { atMost: 0 } : given)
      return ({ pass }, asked) => {
        if (pass === undefined && !asked.keeps('cookie')) return undefined
        return isWithin(pass?.level ?? 0)
      }
    },
  }),
  /** Selects a share of all clients, 0 to 1; each client is always within it or never. */
  share: word('Share of clients; a client is always in or always out', SHARE, {
    asks: 'agent',
    example: 0.05,
    test(share, { id }) {
      const own = Math.imul(hashText(id), 0x9e3779b1)
      return (inspection, asked) => spread(own ^ asked.once(hashClient, inspection)) < share
    },
  }),
  robots: word('Requests that robots.txt disallows for the crawler they name', anyWord(['disallowed']), {
    asks: 'parts',
    mayLack: true,
    example: ['disallowed'],
    test(_, { surroundings: { robots }, once }) {
      if (robots === undefined) return () => undefined
      const ask = once('robots', () => (asked: Asked, { request }: Inspection) => {
        const [host = asked.values('host')[0] ?? ''] = asked.values(':authority')
        return robots(asked.values('user-agent')[0] ?? '', asked.parts.target ?? request.path, host)
      })
      return (inspection, asked) => (asked.keeps('user-agent') ? asked.once(ask, inspection) : undefined)
    },
  }),
}

/** Spreads bits evenly to a number from 0 up to 1, as MurmurHash3 ends. */
function spread(start: number): number {
  let bits = Math.imul(start ^ (start >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

/** Returns the hash of the client. A client of IPv6 has a whole network. */
function hashClient(_: Asked, { client }: Inspection): number {
  return hashText(clientKey(client.address).narrow)
}
