import { channel } from 'node:diagnostics_channel'
import { PHASES, type PhaseEvent, type PhaseName } from '@sallyport/node/internal'
import t from 'tap'
import { from, REQUEST_ID } from './conformance-row.ts'
import { startHost } from './every-host.ts'
import type { Host } from './host.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'
import { exchange, requestBytes, upgrade, WEBSOCKET } from './wire.ts'

/* The phases that a request goes through, told by `sallyport.phase`: the same in every host. */

/** The phases of a request that is answered by us, and of one that goes to the application or the origin. */
const REFUSED: readonly PhaseName[] = ['receive', 'precheck', 'observe']
const DECIDED: readonly PhaseName[] = ['receive', 'precheck', 'route', 'inspect', 'decide', 'answer', 'observe']

interface Row {
  readonly name: string
  readonly target: string
  readonly fields: readonly string[]
  readonly phases: (host: Host) => readonly PhaseName[]
  /** Hosts that refuse or read it before we are asked. */
  readonly isSkipped?: (host: Host) => boolean | undefined
}

function rows(): readonly Row[] {
  const { allowed, blocked } = madeScene()
  return [
    { name: 'an allowed request', target: '/shop', fields: from(allowed), phases: passed },
    { name: 'a blocked request', target: '/shop', fields: from(blocked), phases: () => DECIDED },
    {
      name: 'a head with two user agents',
      target: '/shop',
      fields: from(allowed, 'User-Agent', 'one', 'User-Agent', 'two'),
      phases: () => REFUSED,
      isSkipped: ({ hidesWire }) => hidesWire,
    },
    {
      name: 'a call of the API',
      target: '/v1/myip',
      fields: from(allowed),
      // The proxy finds the API by its route; a middleware before the API goes its own way first.
      phases: ({ hasNoOptions }) => (hasNoOptions ? ['receive', 'precheck', 'route', 'answer', 'observe'] : API),
      isSkipped: ({ hasNoOptions, answersApiFirst }) => !hasNoOptions && answersApiFirst,
    },
  ]
}

const API: readonly PhaseName[] = [...DECIDED.slice(0, -1), 'receive', 'precheck', 'answer', 'observe']

/** The proxy forwards; any other host calls its application. */
function passed({ hasNoOptions }: Host): readonly PhaseName[] {
  return hasNoOptions ? PHASES : DECIDED
}

for (const host of [...HOSTS, ...MORE_HOSTS]) {
  t.test(host.name, async (t) => {
    const heard: PhaseName[] = []
    let onObserved = (): void => {}
    const hear = (message: unknown): void => {
      const { phase, id } = message as PhaseEvent
      if (id !== REQUEST_ID) return
      heard.push(phase)
      if (phase === 'observe') onObserved()
    }
    const untilObserved = () => new Promise<void>((resolve) => (onObserved = resolve))
    channel('sallyport.phase').subscribe(hear)
    t.teardown(() => channel('sallyport.phase').unsubscribe(hear))
    const { enforcing, allowed } = madeScene()
    const running = await startHost(t, host, { ...enforcing, observe: () => {} })

    for (const { name, target, fields, phases, isSkipped } of rows()) {
      if (isSkipped?.(host)) {
        t.pass(name, { skip: 'the host hides the request' })
        continue
      }
      heard.length = 0
      const observed = untilObserved()
      await exchange(running.port, writeBytes(target, ['Connection', 'close', ...fields]))
      await observed
      t.same(heard, phases(host), name)
    }
    if (host.hasNoUpgrades) return
    heard.length = 0
    const observed = untilObserved()
    const { socket } = await upgrade(running.port, writeBytes('/socket', from(allowed, ...WEBSOCKET)))
    socket.destroy()
    await observed
    t.same(heard.slice(0, 6), DECIDED.slice(0, 6), 'an upgrade')
  })
}

const writeBytes = (target: string, fields: readonly string[]): string =>
  requestBytes('GET', target, ['X-Request-Id', REQUEST_ID, ...fields])
