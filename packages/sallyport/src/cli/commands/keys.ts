import { DAY_MS, DIRECTORY_PATH, parseDuration } from '@sallyport/core'
import {
  type Account,
  type AgentKeys,
  type Config,
  createAgentKeys,
  type IssuedKey,
  isDate,
  listAgentKeys,
  type NewAccount,
  openAccounts,
  openLedgerTools,
  type RotatedKey,
  rotateAgentKeys,
} from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { audited } from '../settings/audit.ts'
import { createParser } from '../settings/option-parser.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

interface AccountOption extends JsonOptions {
  readonly account?: string | undefined
}

export function addKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('manage API keys, the evidence signing key, and keys of your bot')
  addAgentCommands(keys, terminal)

  const create = withJsonOptions(keys.command('create'))
    .description('create an API key for an existing or new account')
    .addOption(new Option('--account <id>', 'ID of an existing account').conflicts(['plan', 'signup', 'name']))
  withAccountOptions(create).action(async ({ account, ...options }: AccountOption & NewAccount) => {
    const owner = account === undefined ? options : { account }
    const issued = await audited(options, 'keys create', listIds, terminal, (config) =>
      using(openAccounts(config), ({ keyring }) => keyring.issue(owner)),
    )
    showIssued(issued, options, terminal)
  })

  withJsonOptions(keys.command('list').description('list API keys by public ID'))
    .option('--account <id>', 'list keys of this account only')
    .action(async (options: AccountOption) => {
      const listed = await using(openAccounts(readConfig(options)), ({ accounts }) =>
        accounts.listKeys(options.account),
      )
      if (options.json) return terminal.out(json(listed.map(({ hash: _, ...key }) => key)))
      if (listed.length === 0) return terminal.out('There are no keys.')
      const rows = listed.map(({ id, last4, accountId, createdAt, lastUsedAt = 'never', revokedAt }) => {
        const state = revokedAt === undefined ? 'good' : `revoked ${revokedAt}`
        return [id, `…${last4}`, accountId, createdAt, lastUsedAt, state]
      })
      terminal.out(columns(rows, ['id', 'ends', 'account', 'created', 'last used', 'state']))
    })

  withJsonOptions(keys.command('revoke').description('revoke an API key permanently'))
    .argument('<id>', 'public ID, as shown by keys list')
    .action(async (id: string, options: JsonOptions) => {
      await audited(options, 'keys revoke', { key: id }, terminal, (config) =>
        using(openAccounts(config), ({ keyring }) => keyring.revoke(id)),
      )
      terminal.out(options.json ? json({ id, revoked: true }) : `The key ${id} is revoked.`)
    })

  withJsonOptions(keys.command('rotate').description('replace an API key and revoke the old key immediately'))
    .argument('<id>', 'public ID of the old key, as shown by keys list')
    .action(async (id: string, options: JsonOptions) => {
      const details = (made: IssuedKey) => ({ ...listIds(made), revoked: id })
      const issued = await audited(options, 'keys rotate', details, terminal, (config) =>
        using(openAccounts(config), ({ keyring }) => keyring.rotate(id)),
      )
      showIssued(issued, options, terminal)
    })

  withJsonOptions(keys.command('rotate-signing').description('replace the key that signs checkpoints and evidence'))
    .option('--next-key <file>', 'new private key (default: a generated key replaces the old one)')
    .option('--compromised', 'invalidate everything that the old key signed')
    .addOption(yesOption())
    .action(async ({ nextKey, yes, compromised = false, ...options }: RotateOptions) => {
      if (compromised) await confirm('Everything that the old key signed will become invalid.', yes, terminal)
      const details = ({ kid }: RotatedKey) => ({ kid, compromised })
      const rotated = await audited(options, 'keys rotate-signing', details, terminal, (config) =>
        using(openLedgerTools(config), ({ rotateKey }) => rotateKey({ nextKeyFile: nextKey, compromised })),
      )
      if (options.json) return terminal.out(json(rotated))
      terminal.out(`The key ${rotated.kid} signs the ledger from now on.`)
      if (!rotated.placed) terminal.out('Set provenance.signingKey to that key. Services cannot sign until then.')
    })
}

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

function withAccountOptions(command: Command): Command {
  return command
    .option(
      '--plan <plan>',
      'plan of the new account: free (default), starter, pro, business, enterprise, or a plan in api.plans',
    )
    .addOption(
      new Option('--signup <day>', 'first day of the billing period, YYYY-MM-DD')
        .argParser(parseDay)
        .default(undefined, 'today'),
    )
    .option('--name <name>', 'name of the new account')
}

const parseDay = createParser((text) => (isDate(text) ? text : undefined), 'The value must be a day, YYYY-MM-DD.')

function addAgentCommands(keys: Command, terminal: Terminal): void {
  const agent = keys.command('agent').description('manage keys that sign requests of your bot (Web Bot Auth)')
  const act = async (verb: string, options: JsonOptions, work: (config: Config) => AgentKeys): Promise<void> => {
    const details = ({ agent, keys }: AgentKeys) => ({ agent, keys: keys.map(({ id }) => id) })
    showAgentKeys(
      await audited(options, `keys agent ${verb}`, details, terminal, async (config) => work(config)),
      options,
      terminal,
    )
  }

  withJsonOptions(agent.command('create').description('create the first bot key, in dataDir'))
    .argument('<origin>', "https origin that publishes the bot's public key")
    .action((origin: string, options: JsonOptions) =>
      act('create', options, (config) => createAgentKeys(config, origin, Date.now())),
    )
  withJsonOptions(agent.command('list').description('list bot keys')).action((options: JsonOptions) =>
    showAgentKeys(listAgentKeys(readConfig(options), Date.now()), options, terminal),
  )
  withJsonOptions(agent.command('rotate').description('create the next bot key, which signs within ten minutes'))
    .addOption(
      new Option('--overlap <time>', 'time until older keys expire: 90s, 30m, 12h, 7d; 0s: immediately')
        .argParser(parseOverlap)
        .default(DAY_MS, '1d'),
    )
    .action(({ overlap, ...options }: JsonOptions & { readonly overlap: number }) =>
      act('rotate', options, (config) => rotateAgentKeys(config, overlap, Date.now())),
    )
}

const parseOverlap = createParser(parseDuration, 'Use a duration such as 12h or 7d.')

function showAgentKeys({ agent, file, keys }: AgentKeys, options: JsonOptions, terminal: Terminal) {
  const time = (at: number) => (Number.isFinite(at) ? new Date(at).toISOString() : undefined)
  const rows = keys.map(({ id, notBefore, notAfter, signs }) => {
    return { id, notBefore: time(notBefore), notAfter: time(notAfter), signs }
  })
  if (options.json) return terminal.out(json({ agent, file, keys: rows }))
  const listed = rows.map((key) => [key.id, key.notBefore ?? '', key.notAfter ?? '', key.signs ? 'signs' : ''])
  terminal.out(columns(listed, ['id', 'from', 'until', '']))
  const published = `A service with this dataDir publishes the public keys at ${agent}${DIRECTORY_PATH}.`
  terminal.out(dim(`Private keys are in ${file}. ${published}`))
}

interface RotateOptions extends JsonOptions {
  readonly nextKey?: string | undefined
  readonly compromised?: boolean | undefined
  readonly yes?: true | undefined
}

function listIds({ id, account }: IssuedKey) {
  return { key: id, account: account.id }
}

function showIssued(issued: IssuedKey, options: JsonOptions, terminal: Terminal) {
  if (options.json) return terminal.out(json(issued))
  const { key, account } = issued
  terminal.out(key)
  const named = account.name === '' ? 'an account without a name' : `the account ${account.name}`
  terminal.out(dim(`for ${named}, id ${account.id}, plan ${account.plan}; it is not shown again`))
}
