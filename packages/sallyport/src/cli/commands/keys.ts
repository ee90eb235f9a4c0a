import { DAY_MS, DIRECTORY_PATH, parseDuration } from '@sallyport/core'
import {
  type AgentKeys,
  type Config,
  createAgentKeys,
  type IssuedKey,
  listAgentKeys,
  type NewAccount,
  openAccounts,
  openLedgerTools,
  type RotatedKey,
  rotateAgentKeys,
} from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withAccountOptions } from '../settings/account-options.ts'
import { audited } from '../settings/audit.ts'
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

function parseOverlap(text: string): number {
  const overlap = parseDuration(text)
  if (overlap === undefined) throw new InvalidArgumentError('Use a duration such as 12h or 7d.')
  return overlap
}

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

/** Shows a new key; this is the only time. */
function showIssued(issued: IssuedKey, options: JsonOptions, terminal: Terminal) {
  if (options.json) return terminal.out(json(issued))
  const { key, account } = issued
  terminal.out(key)
  const named = account.name === '' ? 'an account without a name' : `the account ${account.name}`
  terminal.out(dim(`for ${named}, id ${account.id}, plan ${account.plan}; it is not shown again`))
}
