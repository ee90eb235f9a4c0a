import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import type { Command } from 'commander'
import { readTokens, signInLink } from '#console'
import { findGate } from '../service/gate.ts'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

export function addConsoleCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(
    program.command('console').description('print a link that signs in to the console with read access'),
  ).action(async (options: JsonOptions) => {
    const config = readConfig(options)
    if (!config.console.enabled) throw new SallyportError('invalid_config', 'console.enabled is false.')
    const { tokens, isKept } = readTokens(config.dataDir, config.console)
    if (!isKept) {
      const file = join(config.dataDir, 'console-token')
      const why = existsSync(file) ? 'cannot be read by this user' : 'does not exist yet; the first start creates it'
      throw new SallyportError('invalid_config', `No link can be created: ${file} ${why}.`)
    }
    const gate = await findGate(config)
    if ('reason' in gate) throw new SallyportError('service_unavailable', `No link can be created: ${gate.reason}.`)
    const url = signInLink(tokens, gate.url)
    terminal.out(options.json ? json({ url }) : url)
    if (!options.json) terminal.err('It works once, within an hour. Changes need the administrator token.')
  })
}
