import { fileURLToPath } from 'node:url'
import type { ConfigInput } from '@sallyport/engine'
import type { Command } from 'commander'
import { runService } from '../service/service.ts'
import { configSource } from '../settings/config-file.ts'
import type { CommonOptions } from '../settings/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The package contains this configuration: the demo is the proxy that runs with it. */
const FILE = fileURLToPath(new URL('../../../../demo.yaml', import.meta.url))

type Options = Pick<CommonOptions, 'dataDir'> & Pick<ConfigInput, 'listen' | 'admin'>

export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description('run the proxy in front of an example site with sample visitors')
    .option('--listen <host:port>', 'address to listen on (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'address of health, metrics and console (default: 127.0.0.1:9090)')
    .option('--data-dir <dir>', 'directory of compiled data and the store')
    .action(async ({ dataDir, ...flags }: Options) => {
      await runService(configSource({ config: FILE, dataDir }, flags), undefined, terminal)
    })
}
