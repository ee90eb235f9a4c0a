import type { StoredKey } from '@sallyport/engine'
import { type IssuedKey, type KeyOwner, openAccounts, openLedgerTools, type RotatedKey } from '@sallyport/engine'
import { type Command, Option } from 'commander'
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

/** `sallyport keys create | list | revoke | rotate | rotate-signing` */
export function addKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('API keys for /v1, and the key that signs evidence')

  const create = withJsonOptions(keys.command('create'))
    .description('make a key, for an existing account or a new one')
    .addOption(new Option('--account <id>', 'an existing account').conflicts(['plan', 'signup', 'name']))
  withAccountOptions(create).action(async (options: CreateOptions) => {
    const config = readConfig(options)
    const issued = await audited(config, { what: 'keys create', details: listIds }, terminal, () =>
      using(openAccounts(config), ({ keyring }) => keyring.issue(findOwner(options))),
    )
    showIssued(issued, options, terminal)
  })

  withJsonOptions(keys.command('list').description('list keys by their public ids'))
    .option('--account <id>', 'keys of one account')
    .action(async (options: ListOptions) => {
      const listed = await using(openAccounts(readConfig(options)), ({ accounts }) =>
        accounts.listKeys(options.account),
      )
      if (options.json) return terminal.out(json(listed.map(shown)))
      if (listed.length === 0) return terminal.out('No keys.')
      const rows = listed.map(({ id, last4, accountId, createdAt, lastUsedAt = 'never', revokedAt }) => {
        const state = revokedAt === undefined ? 'good' : `revoked ${revokedAt}`
        return [id, `…${last4}`, accountId, createdAt, lastUsedAt, state]
      })
      terminal.out(columns(rows, ['id', 'ends', 'account', 'created', 'last used', 'state']))
    })

  withJsonOptions(keys.command('revoke').description('revoke a key for good'))
    .argument('<id>', 'public id, as listed')
    .action(async (id: string, options: JsonOptions) => {
      const config = readConfig(options)
      await audited(config, { what: 'keys revoke', details: { key: id } }, terminal, () =>
        using(openAccounts(config), ({ keyring }) => keyring.revoke(id)),
      )
      terminal.out(options.json ? json({ id, revoked: true }) : `Revoked ${id}.`)
    })

  withJsonOptions(
    keys.command('rotate').description('make a new key for the same account and revoke the old one at once'),
  )
    .argument('<id>', 'public id of the old key, as listed')
    .action(async (id: string, options: JsonOptions) => {
      const config = readConfig(options)
      const details = (made: IssuedKey) => ({ ...listIds(made), revoked: id })
      const issued = await audited(config, { what: 'keys rotate', details }, terminal, () =>
        using(openAccounts(config), ({ keyring }) => keyring.rotate(id)),
      )
      showIssued(issued, options, terminal)
    })

  withJsonOptions(keys.command('rotate-signing').description('hand over to a new key for checkpoints and evidence'))
    .option('--next-key <file>', 'private key to hand over to (default: one is made in place of the old)')
    .option('--compromised', 'distrust everything that the old key signed')
    .addOption(yesOption())
    .action(async ({ nextKey, yes, compromised = false, ...options }: RotateOptions) => {
      if (compromised) await confirm('Everything that the old key signed will be distrusted.', yes, terminal)
      const next = { nextKeyFile: nextKey, compromised }
      const config = readConfig(options)
      const details = ({ kid }: RotatedKey) => ({ kid, compromised })
      const rotated = await audited(config, { what: 'keys rotate-signing', details }, terminal, () =>
        using(openLedgerTools(config), ({ rotateKey }) => rotateKey(next)),
      )
      if (options.json) return terminal.out(json(rotated))
      terminal.out(`The ledger is signed by ${rotated.kid} from now on.`)
      if (!rotated.placed) terminal.out('Services cannot sign until provenance.signingKey names that key.')
    })
}

interface RotateOptions extends JsonOptions {
  readonly nextKey?: string | undefined
  readonly compromised?: boolean | undefined
  readonly yes?: true | undefined
}

/** The ids of a new key for the audit trail. */
function listIds({ id, account }: IssuedKey): { readonly key: string; readonly account: string } {
  return { key: id, account: account.id }
}

/** Shows a new key, this once. */
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

/** A stored key without its hash. */
function shown({ hash: _, ...key }: StoredKey): Omit<StoredKey, 'hash'> {
  return key
}
