import type { Address, Challenges, DirectoryAnswer, InspectionRequest, Mode, Observe, Policy } from '@sallyport/core'
import type { Payments } from '@sallyport/engine'
import type { Paths } from './head-fault.ts'

/** The part of a Sallyport that every request needs; a stand-in may omit every member. */
export interface RequestHost {
  readonly config?:
    | {
        readonly mode?: Mode | undefined
        readonly paths?: Paths | undefined
        readonly behaviour?: boolean | undefined
        readonly challenge?: ChallengePage | undefined
        readonly policy?: Pick<Policy, 'rules' | 'strikes'> | undefined
      }
    | undefined
  /** Names the header that carries the client, in lower case, where it holds one address and must not come twice. */
  readonly singleHeader?: string | undefined
  /** Reports whether a peer is a trusted proxy; absent: no peer is. */
  isTrusted?(peer: string): boolean
  /** Returns the scheme that the client used, as a trusted proxy names it; absent: the scheme of the socket. */
  namedScheme?(request: InspectionRequest): 'http' | 'https' | undefined
  /** Returns the JA4 of the client as a trusted proxy names it, with its header; absent: the JA4 of the connection. */
  namedJa4?(request: InspectionRequest): { readonly ja4: string; readonly header: string } | undefined
  /** Returns the client of a request; absent: the peer. */
  client?(request: InspectionRequest): { readonly address: Address | undefined }
  /** Reports whether a person's browser sent the request, by its fields and by the verdict; absent: unknown. */
  isBrowser?(request: InspectionRequest): boolean
  /** Returns the directory of our keys as an agent, for a request at its origin; absent: none. Throws where it cannot be read. */
  keyDirectory?(request: InspectionRequest): DirectoryAnswer | undefined
  /** Receives every request when its answer has ended. */
  readonly observe?: Observe | undefined
  /** Challenges visitors, and issues passes; absent: a visitor who would be challenged is refused. */
  readonly challenges?: Challenges | undefined
  /** Takes receipts for what rules offer; absent: no receipt is accepted. */
  readonly payments?: Payments | undefined
  /** Texts that refused visitors see; absent: the built-in texts. */
  readonly refusalPage?: RefusalPage | undefined
}

/** A text, or texts by language (BCP 47), of which the first is the default. */
export type LocalText = string | Readonly<Record<string, string>>

/** Sets the path and the texts of the challenge page. */
export interface ChallengePage {
  /** The path below which the page posts its solution, at `/pass`. */
  readonly path: string
  /** Whether frames are challenged too, with separate cookies for each embedding site; absent: false. */
  readonly partitioned?: boolean | undefined
  /** Replace our own texts. */
  readonly title?: LocalText | undefined
  readonly text?: LocalText | undefined
}

/** A site's own texts for visitors whom it refuses. */
export interface RefusalPage {
  /** Replace our own texts where a request is blocked. */
  readonly title?: LocalText | undefined
  readonly text?: LocalText | undefined
  /** A contact that visitors may use: an email address, a URL, or a sentence. */
  readonly contact?: string | undefined
  /** HTML that replaces our page; has `{{title}}`, `{{text}}`, `{{contact}}`, `{{id}}`, `{{status}}`, `{{lang}}` and `{{dir}}`. */
  readonly template?: string | undefined
}
