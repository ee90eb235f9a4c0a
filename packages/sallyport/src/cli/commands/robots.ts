import { givenWords, type Rule, rulesInForce } from '@sallyport/core'
import { writeConfigRobots } from '@sallyport/engine'
import { listSiteParts } from '@sallyport/proxy/internal'
import type { Command } from 'commander'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

export function addRobotsCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('robots').description('print the robots.txt of the policy'))
    .option('--host <name>', 'print rules for this host')
    .action((options: JsonOptions & { readonly host?: string | undefined }) => {
      const config = readConfig(options)
      const { text, unspoken } = writeConfigRobots(config, listSiteParts(config.routes, options.host ?? ''))
      if (options.json) return terminal.out(json({ text, unspoken }))
      terminal.out(text.trimEnd())
      if (config.mode === 'monitor') {
        const refused = config.decoys.paths.length === 0 ? 'nothing' : 'decoys only'
        terminal.err(`Monitor mode blocks nothing, so robots.txt disallows ${refused}.`)
      }
      if (unspoken.length === 0) return
      const policies = [config.policy, ...config.routes.flatMap(({ policy }) => policy ?? [])]
      const rules = policies.flatMap(rulesInForce)
      const named = unspoken.map((id) => `${id}${wordsText(rules.filter((rule) => rule.id === id))}`)
      terminal.err(`Rules that robots.txt cannot express in full: ${named.join(', ')}`)
    })
}

/** Writes ` (country, load)`: the words that robots.txt lacks; empty for a path that it cannot express. */
function wordsText(rules: readonly Rule[]): string {
  const given = rules.flatMap(({ match }) => givenWords(match))
  const words = new Set(given.flatMap(({ name, word }) => (word.robots ? [] : [name])))
  return words.size === 0 ? '' : ` (${[...words].join(', ')})`
}
