import { type Account, type NewAccount, openAccounts } from '@sallyport/engine'
import type { Command } from 'commander'
import { withAccountOptions } from '../settings/account-options.ts'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

export function addAccountsCommands(program: Command, terminal: Terminal): void {
  const accounts = program.command('accounts').description('manage accounts and their plans')

  withAccountOptions(withJsonOptions(accounts.command('create').description('create an account without a key'))).action(
    async (options: JsonOptions & NewAccount) => {
      const details = ({ id, plan }: Account) => ({ account: id, plan })
      const account = await audited(options, 'accounts create', details, terminal, (config) =>
        using(openAccounts(config), ({ keyring }) => keyring.createAccount(options)),
      )
      if (options.json) return terminal.out(json(account))
      terminal.out(account.id)
      terminal.out(dim(`is on plan ${account.plan}. To create a key: sallyport keys create --account ${account.id}`))
    },
  )

  withJsonOptions(accounts.command('list').description('list all accounts')).action(async (options: JsonOptions) => {
    const listed = await using(openAccounts(readConfig(options)), ({ accounts }) => accounts.listAccounts())
    if (options.json) return terminal.out(json(listed))
    if (listed.length === 0) return terminal.out('There are no accounts.')
    const rows = listed.map(({ id, name, plan, signupDate }) => [id, name, plan, signupDate])
    terminal.out(columns(rows, ['id', 'name', 'plan', 'signup']))
  })

  withJsonOptions(accounts.command('set-plan').description('change the plan of an account, effective immediately'))
    .argument('<id>', 'account ID')
    .argument('<plan>', 'free, starter, pro, business, enterprise, or a plan in api.plans')
    .action(async (id: string, plan: string, options: JsonOptions) => {
      await audited(options, 'accounts set-plan', { account: id, plan }, terminal, (config) =>
        using(openAccounts(config), ({ keyring }) => keyring.setPlan(id, plan)),
      )
      terminal.out(options.json ? json({ id, plan }) : `${id} is on plan ${plan}.`)
    })
}
