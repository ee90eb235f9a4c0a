import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'

interface Cost {
  readonly milliseconds: number
  readonly megabytes: number
}

interface Case {
  readonly name: string
  /** As import-process.ts takes them. */
  readonly parameters: readonly string[]
  readonly goal?: Cost
}

const CASES: readonly Case[] = [
  ...['node', 'express', 'koa', 'fastify', 'fetch'].map((name) => ({
    name: `import of \`@sallyport/${name}\``,
    parameters: ['import', `@sallyport/${name}`],
    goal: { milliseconds: 150, megabytes: 25 },
  })),
  { name: 'import of `@sallyport/open`', parameters: ['import', '@sallyport/open'] },
  { name: '`open()`, cities among the data', parameters: ['open'], goal: { milliseconds: 700, megabytes: 150 } },
]

/** Cost of importing an adapter, and `open()` of data that is compiled, in fresh processes by turns. */
export async function benchImports(run: Run): Promise<void> {
  run.step('compiling the data')
  costOf(['open'])
  const taken = CASES.map((): Cost[] => [])
  for (let round = 0; round < run.pick(11, 3); round++) {
    run.step(`round ${round + 1}`)
    for (const [index, { parameters }] of CASES.entries()) taken[index]?.push(costOf(parameters))
  }
  const figures = CASES.flatMap(({ name, goal }, index): Figure[] => {
    const costs = taken[index] ?? []
    const part = (member: keyof Cost) => ({
      value: spreadOf(costs.map((cost) => cost[member])),
      ...(goal === undefined ? {} : { goal: { atMost: goal[member] } }),
    })
    return [
      { case: name, what: 'takes', unit: 'ms', ...part('milliseconds') },
      { case: name, what: 'resident since', unit: 'MB', ...part('megabytes') },
    ]
  })
  run.table({ title: 'Importing an adapter, and opening compiled data', figures })
}

function costOf(parameters: readonly string[]): Cost {
  const program = join(import.meta.dirname, 'import-process.js')
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', program, ...parameters], { encoding: 'utf8' }))
}
