import { readFileSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { systemFault } from '@sallyport/engine/files'
import { Command, CommanderError } from 'commander'
import { findLeaves, listCommands } from './command-table.ts'
import { addBansCommands } from './commands/bans.ts'
import { addConfigCommands } from './commands/config.ts'
import { addConsoleCommand } from './commands/console.ts'
import { addCrawlersCommands } from './commands/crawlers.ts'
import { addDataCommands } from './commands/data.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEvidenceCommands } from './commands/evidence.ts'
import { addExplainCommand } from './commands/explain.ts'
import { addIpCommands } from './commands/ip.ts'
import { addAccountsCommands, addKeysCommands } from './commands/keys.ts'
import { addLedgerCommands } from './commands/ledger.ts'
import { addListCommands } from './commands/list.ts'
import { addLogsCommand } from './commands/logs.ts'
import { addLookupCommand } from './commands/lookup.ts'
import { addNotifyCommands } from './commands/notify.ts'
import { addPolicyCommands } from './commands/policy.ts'
import { addPrivacyCommands } from './commands/privacy.ts'
import { addDemoCommand, addProxyCommand } from './commands/proxy.ts'
import { addReplayCommand } from './commands/replay.ts'
import { addReportCommand } from './commands/report.ts'
import { addRobotsCommand } from './commands/robots.ts'
import { addSimulateCommand } from './commands/simulate.ts'
import { EXAMPLES } from './examples.ts'
import { addInitCommand } from './init/init.ts'
import { printableLines, printableMessage } from './terminal/printable.ts'
import { ExitError, processTerminal, type Terminal } from './terminal/terminal.ts'
import { leavePrimary } from './workers/worker.ts'

const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** Runs one command line, without the program's name; resolves with the exit code and never rejects. */
export async function main(argv: readonly string[], on: Terminal = processTerminal()): Promise<number> {
  const terminal: Terminal = {
    get isClosed() {
      return on.isClosed
    },
    out: (text) => on.out(printableLines(text)),
    // A message may contain a client's text as a name, but none of our styles.
    err: (text) => on.err(text.startsWith('sallyport: ') ? printableMessage(text) : printableLines(text)),
  }
  try {
    await createProgram(terminal).parseAsync([...argv], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof ExitError) return error.code
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (error instanceof SallyportError) {
      terminal.err(`sallyport: ${error.message}`)
      return error.code === 'invalid_config' || error.code === 'invalid_policy' ? EXIT.usage : EXIT.failed
    }
    const fault = systemFault(error)
    const bug = error instanceof Error ? (error.stack ?? error.message) : String(error)
    terminal.err(fault === undefined ? printableMessage(bug) : `sallyport: ${fault}.`)
    return EXIT.failed
  } finally {
    leavePrimary()
  }
}

export function commandTable() {
  return listCommands(createProgram({ out() {}, err() {} }), EXAMPLES)
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('sallyport')
    .description('Know who is at the door of your Node server, and decide before your code runs.')
    .version(readVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: (text, write) => write(printableMessage(text.replace(/^error: /, 'sallyport: '))),
    })
  // Commands that are added after this line inherit the settings above.
  addProxyCommand(program, terminal)
  addDemoCommand(program, terminal)
  addInitCommand(program, terminal)
  addConfigCommands(program, terminal)
  addConsoleCommand(program, terminal)
  addDoctorCommand(program, terminal)
  addLookupCommand(program, terminal)
  addExplainCommand(program, terminal)
  addLogsCommand(program, terminal)
  addReportCommand(program, terminal)
  addSimulateCommand(program, terminal)
  addReplayCommand(program, terminal)
  addPolicyCommands(program, terminal)
  addKeysCommands(program, terminal)
  addAccountsCommands(program, terminal)
  addIpCommands(program, terminal)
  addBansCommands(program, terminal)
  addListCommands(program, terminal)
  addNotifyCommands(program, terminal)
  addRobotsCommand(program, terminal)
  addDataCommands(program, terminal)
  addCrawlersCommands(program, terminal)
  addLedgerCommands(program, terminal)
  addEvidenceCommands(program, terminal)
  addPrivacyCommands(program, terminal)
  for (const { name, command } of findLeaves(program)) {
    command.addHelpText('after', `\nExample:\n  ${['sallyport', name, EXAMPLES[name]].join(' ').trimEnd()}`)
  }
  return program
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
}
