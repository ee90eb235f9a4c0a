import type { Decision } from '@sallyport/core'
import { listFacts, listSignals } from '#console'
import { printable } from '../terminal/printable.ts'
import { bold, columns, dim } from '../terminal/terminal.ts'

type Request = Decision['inspection']['request']

/** Explains a decision as text: the action, the facts behind it, and the signals. */
export function explanation(
  decision: Decision,
  trapOf: (request: Request) => string | undefined = () => undefined,
): string {
  const { action, enforced, inspection } = decision
  const { request, agent } = inspection
  const trap = trapOf(request)
  const facts = [
    ['request', `${request.method} ${request.path}${otherReadings(request)}`],
    ...(trap === undefined ? [] : [['path', trap]]),
    ...listFacts(decision),
  ]
  const signals = listSignals(agent.reasons).map(([sign, text]) => `  ${sign.padStart(5)}  ${printable(text)}`)
  const head = `${bold(action)}${enforced ? '' : '  (recorded, not enforced)'}`
  return [head, columns(facts.map(([name = '', text = '']) => [dim(name), printable(text)])), ...signals].join('\n')
}

/** Lists other targets that an origin may read. */
function otherReadings({ path, readings }: Request): string {
  if (readings === undefined) return ''
  const others = readings.filter((reading) => reading !== path)
  return others.length === 0 ? '  (or many others)' : `  (or ${others.join(', ')})`
}
