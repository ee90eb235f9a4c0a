import { DAY_MS, type Dated, type Dns, type MailAddress, type MailFacts, MEMORY_DAYS } from '@sallyport/core'
import type { MailDomains } from '#datasets/service'
import type { HashName } from './hash-names.ts'
import type { UserStore } from './user-store.ts'

/** What is known of the mail address of an event. */
export interface ReadMail {
  readonly facts: MailFacts
  readonly domain?: string | undefined
  /** The list that knows the domain. */
  readonly source?: Dated | undefined
  /** Key and text of the domain in the store; absent where the domain is a provider's, or no fact needs it. */
  readonly seen?: { readonly key: string; readonly text?: string | undefined } | undefined
}

/** An event for which facts are read. */
export interface MailMoment {
  readonly at: number
  /** The domain may be new here, and takes mail. */
  readonly isSignup: boolean
  /** Facts that rules ask for. */
  readonly asked: ReadonlySet<string>
}

export interface MailPorts {
  readonly store: Pick<UserStore, 'read' | 'replace'>
  readonly hash: HashName
  /** Lists of domains that give throwaway addresses; `undefined` where none is loaded. */
  readonly throwaway: () => MailDomains | undefined
  /** Is closed where outbound requests are. */
  readonly dns: Dns
}

const NEW_DAYS = 7

export function createMailReader({ store, hash, throwaway, dns }: MailPorts) {
  /** Reads the day on which a domain was first seen; `undefined` where the store is away. */
  async function findSeen(domain: string) {
    const key = hash('domain', domain)
    try {
      return { key, text: await store.read(key) }
    } catch {
      return undefined
    }
  }

  return {
    /** Reads the facts about an address. Never rejects. */
    async read(address: MailAddress | undefined, { at, isSignup, asked }: MailMoment): Promise<ReadMail> {
      if (address === undefined) return { facts: {} }
      const { host, domain, isAlias: alias, isAtProvider } = address
      if (isAtProvider) return { facts: { disposable: false, alias, noMx: false, newDomain: false }, domain }
      const lists = asked.has('disposable') ? throwaway() : undefined
      const source = lists?.find(host, domain)
      const [seen, isTaken] = await Promise.all([
        isSignup ? findSeen(domain) : undefined,
        isSignup && asked.has('noMx') ? takesMail(dns, host) : undefined,
      ])
      const firstDay = seen?.text === undefined ? undefined : Number(seen.text)
      const facts: MailFacts = {
        alias,
        ...(lists && { disposable: source !== undefined }),
        ...(seen && { newDomain: firstDay === undefined || at / DAY_MS - firstDay < NEW_DAYS }),
        ...(isTaken !== undefined && { noMx: !isTaken }),
      }
      return { facts, domain, ...(source && { source }), ...(seen && { seen }) }
    },
    /** Remembers that a user of this domain signed up. */
    async remember({ seen }: ReadMail, at: number): Promise<void> {
      if (seen === undefined) return
      const day = seen.text ?? String(Math.floor(at / DAY_MS))
      await store.replace(seen.key, seen.text, day, at + MEMORY_DAYS * DAY_MS).catch(() => {})
    },
  }
}

/**
 * Asks whether a host takes mail; `undefined` where nobody answers. A host without a record takes it at its own address (RFC 5321
 * section 5.1), and one whose record is empty takes none (RFC 7505).
 */
async function takesMail(dns: Dns, host: string): Promise<boolean | undefined> {
  const servers = await dns.resolveMx?.(host)
  if (servers === undefined || servers.state === 'failed') return undefined
  if (servers.state === 'found') return servers.names.some((name) => name !== '' && name !== '.')
  const own = await dns.resolve(host)
  return own.state === 'failed' ? undefined : own.state === 'found'
}
