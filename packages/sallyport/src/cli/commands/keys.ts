import { DAY_MS, DIRECTORY_PATH, parseDuration } from '@sallyport/core'
import type { StoredKey } from '@sallyport/engine'
import {
  type AgentKeys,
  type Config,
  createAgentKeys,
  type IssuedKey,
  type KeyOwner,
  listAgentKeys,
  openAccounts,
  openLedgerTools,
  type RotatedKey,
  rotateAgentKeys,
} from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AccountOptions, toNewAccount, withAccountOptions } from '../settings/account-options.ts'
import { audited } from '../settings/audit.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

interface CreateOptions extends JsonOptions, AccountOptions {
  readonly account?: string | undefined
}

interface ListOptions extends JsonOptions {
  readonly account?: string | undefined
}

/** Adds `sallyport keys create | list | revoke | rotate | rotate-signing | agent`. */
export function addKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('manage API keys, the evidence signing key, and keys of your bot')
  addAgentCommands(keys, terminal)

  const create = withJsonOptions(keys.command('create'))
    .description('create an API key for an existing or new account')
    .addOption(new Option('--account <id>', 'ID of an existing account').conflicts(['plan', 'signup', 'name']))
  withAccountOptions(create).action(async (options: CreateOptions) => {
    const config = readConfig(options)
    const issued = await audited(config, { what: 'keys create', details: listIds }, terminal, () =>
      using(openAccounts(config), ({ keyring }) => keyring.issue(findOwner(options))),
    )
    showIssued(issued, options, terminal)
  })

  withJsonOptions(keys.command('list').description('list API keys by public ID'))
    .option('--account <id>', 'list keys of this account only')
    .action(async (options: ListOptions) => {
      const listed = await using(openAccounts(readConfig(options)), ({ accounts }) =>
        accounts.listKeys(options.account),
      )
      if (options.json) return terminal.out(json(listed.map(dropHash)))
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
      const config = readConfig(options)
      await audited(config, { what: 'keys revoke', details: { key: id } }, terminal, () =>
        using(openAccounts(config), ({ keyring }) => keyring.revoke(id)),
      )
      terminal.out(options.json ? json({ id, revoked: true }) : `The key ${id} is revoked.`)
    })

  withJsonOptions(keys.command('rotate').description('replace an API key and revoke the old key immediately'))
    .argument('<id>', 'public ID of the old key, as shown by keys list')
    .action(async (id: string, options: JsonOptions) => {
      const config = readConfig(options)
      const details = (made: IssuedKey) => ({ ...listIds(made), revoked: id })
      const issued = await audited(config, { what: 'keys rotate', details }, terminal, () =>
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
      const next = { nextKeyFile: nextKey, compromised }
      const config = readConfig(options)
      const details = ({ kid }: RotatedKey) => ({ kid, compromised })
      const rotated = await audited(config, { what: 'keys rotate-signing', details }, terminal, () =>
        using(openLedgerTools(config), ({ rotateKey }) => rotateKey(next)),
      )
      if (options.json) return terminal.out(json(rotated))
      terminal.out(`The key ${rotated.kid} signs the ledger from now on.`)
      if (!rotated.placed) terminal.out('Set provenance.signingKey to that key. Services cannot sign until then.')
    })
}

/** Adds `sallyport keys agent create | list | rotate`. */
function addAgentCommands(keys: Command, terminal: Terminal): void {
  const agent = keys.command('agent').description('manage keys that sign requests of your bot (Web Bot Auth)')
  const act = async (verb: string, options: JsonOptions, work: (config: Config) => AgentKeys): Promise<void> => {
    const config = readConfig(options)
    const details = ({ agent, keys }: AgentKeys) => ({ agent, keys: keys.map(({ id }) => id) })
    const what = `keys agent ${verb}`
    showAgentKeys(await audited(config, { what, details }, terminal, async () => work(config)), options, terminal)
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

/** Shows keys without their private parts. */
function showAgentKeys({ agent, file, keys }: AgentKeys, options: JsonOptions, terminal: Terminal): void {
  const time = (at: number) => (Number.isFinite(at) ? new Date(at).toISOString() : undefined)
  const rows = keys.map(({ id, notBefore, notAfter, signs }) => {
    return { id, notBefore: time(notBefore), notAfter: time(notAfter), signs }
  })
  if (options.json) {
    terminal.out(json({ agent, file, keys: rows }))
    return
  }
  const listed = rows.map(({ id, notBefore = '', notAfter = '', signs }) => [
    id,
    notBefore,
    notAfter,
    signs ? 'signs' : '',
  ])
  terminal.out(columns(listed, ['id', 'from', 'until', '']))
  terminal.out(
    dim(
      `Private keys are in ${file}. A service with this dataDir publishes the public keys at ${agent}${DIRECTORY_PATH}.`,
    ),
  )
}

interface RotateOptions extends JsonOptions {
  readonly nextKey?: string | undefined
  readonly compromised?: boolean | undefined
  readonly yes?: true | undefined
}

/** Returns the ids of a new key, which the audit trail records. */
function listIds({ id, account }: IssuedKey): { readonly key: string; readonly account: string } {
  return { key: id, account: account.id }
}

/** Shows a new key; this is the only time. */
function showIssued(issued: IssuedKey, options: { readonly json?: true | undefined }, terminal: Terminal): void {
  if (options.json) terminal.out(json(issued))
  else {
    const { key, account } = issued
    terminal.out(key)
    const named = account.name === '' ? 'an account without a name' : `the account ${account.name}`
    terminal.out(dim(`for ${named}, id ${account.id}, plan ${account.plan}; it is not shown again`))
  }
}

function findOwner({ account, ...options }: CreateOptions): KeyOwner {
  return account === undefined ? toNewAccount(options) : { account }
}

/** Removes the hash from a stored key. */
function dropHash({ hash: _, ...key }: StoredKey): Omit<StoredKey, 'hash'> {
  return key
}
