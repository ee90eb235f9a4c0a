import type { Decision } from '@sallyport/core'
import { listFacts, listSignals } from '#console'
import { printable } from '../terminal/printable.ts'
import { bold, columns, dim } from '../terminal/terminal.ts'

type Request = Decision['inspection']['request']

export function explanation(decision: Decision, findTrap?: (request: Request) => string | undefined): string {
  const { action, enforced, inspection } = decision
  const { request, agent } = inspection
  const trap = findTrap?.(request)
  const facts = [
    ['request', `${request.method} ${request.path}${otherReadings(request)}`],
    ...(trap === undefined ? [] : [['path', trap]]),
    ...listFacts(decision),
  ]
  const signals = listSignals(agent.reasons).map(([sign, text]) => `  ${sign.padStart(5)}  ${printable(text)}`)
  const head = `${bold(action)}${enforced ? '' : '  (recorded, not enforced)'}`
  return [head, columns(facts.map(([name = '', text = '']) => [dim(name), printable(text)])), ...signals].join('\n')
}

function otherReadings({ path, readings }: Request): string {
  if (readings === undefined) return ''
  const others = readings.filter((reading) => reading !== path)
  return others.length === 0 ? '  (or many others)' : `  (or ${others.join(', ')})`
}
