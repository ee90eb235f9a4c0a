import type { ConfigInput } from '@sallyport/engine'
import { parse } from 'yaml'
import type { Judge } from './case.ts'
import { requestBytes } from './product.ts'

interface LimitRule {
  readonly limit?: { readonly max?: number | undefined } | undefined
}

/** A policy that another file of the folder names is judged with that. */
export const policyOfAnother: Judge = {
  takes: (file) =>
    file.name.endsWith('.yaml') && !('policy' in (parse(file.text) as object)) && !/^tests:/m.test(file.text),
  judge: async () => [],
}

/** A configuration with one limit, by the words of its rule: so many requests of one client pass, and the rest is 429. */
export const limitConfig: Judge = {
  takes: ({ name, text }) => name.endsWith('.yaml') && readLimit(text) !== undefined,
  async judge(file, product) {
    const max = readLimit(file.text) as number
    const gate = await product.gate({ trustProxy: ['loopback'], ...(parse(file.text) as ConfigInput) })
    const statuses: number[] = []
    for (let sent = 0; sent < max + 5; sent++) {
      const { status } = await gate.ask(requestBytes('GET', '/', [['X-Forwarded-For', '73.162.10.20']]))
      statuses.push(status)
    }
    const passed = statuses.filter((status) => status === 200).length
    const rest = [...new Set(statuses.slice(max))].join(', ')
    const ok = passed === max && rest === '429'
    return [{ input: file.name, expected: `${max} pass, then 429`, came: `${passed} pass, then ${rest}`, ok }]
  },
}

function readLimit(text: string): number | undefined {
  const { policy } = parse(text) as {
    readonly policy?: { readonly rules?: readonly LimitRule[] | undefined } | undefined
  }
  const limits = policy?.rules?.flatMap(({ limit }) => limit?.max ?? []) ?? []
  return limits.length === 1 ? limits[0] : undefined
}
