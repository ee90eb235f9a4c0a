import type { Address, Challenges, InspectionRequest, Mode, Observe, Policy, UsageTable } from '@sallyport/core'
import type { SitePart } from '@sallyport/engine'
import type { Paths } from './head-fault.ts'

/** The part of a Sallyport that every request needs, whatever answers it; a stand-in may leave all of it out. */
export interface RequestHost {
  readonly config?:
    | {
        readonly mode?: Mode | undefined
        readonly paths?: Paths | undefined
        readonly challenge?: ChallengePage | undefined
        readonly policy?: Pick<Policy, 'rules' | 'strikes'> | undefined
      }
    | undefined
  /** The header that names the client, in lower case, where it holds one address and must not come twice. */
  readonly singleHeader?: string | undefined
  /** Whether a peer is a trusted proxy; absent: none is. */
  isTrusted?(peer: string): boolean
  /** The scheme by which the client came, as a trusted proxy names it; absent: the socket's counts. */
  namedScheme?(request: InspectionRequest): 'http' | 'https' | undefined
  /** Sender of a request; absent: its peer. */
  client?(request: InspectionRequest): { readonly address: Address | undefined }
  /** Whether a person's browser asks, by what it says it is and by the verdict; absent: that is not known. */
  isBrowser?(request: InspectionRequest): boolean
  /** Learns of every request when its answer has ended. */
  readonly observe?: Observe | undefined
  /** Asks visitors, and gives passes for their answers; absent: who would be asked is refused. */
  readonly challenges?: Challenges | undefined
  /** Fields of answers about the use of content, by path, with parts that other rules decide about; absent, or `undefined`: there are none. */
  usage?(parts?: readonly SitePart[]): Pick<UsageTable, 'fieldsOf'> | undefined
  /** Texts for refused visitors; absent: the built-in ones. */
  readonly refusalPage?: RefusalPage | undefined
}

/** A text, or one by language (BCP 47), of which the first is the default. */
export type LocalText = string | Readonly<Record<string, string>>

/** The page that asks visitors. */
export interface ChallengePage {
  /** Path under which it gives back its solution, at `/pass`. */
  readonly path: string
  /** Frames are asked too, with cookies of their own for each site that shows them; absent: false. */
  readonly partitioned?: boolean | undefined
  /** In place of our own. */
  readonly title?: LocalText | undefined
  readonly text?: LocalText | undefined
}

/** A site's texts for refused visitors. */
export interface RefusalPage {
  /** In place of our own where a request is blocked. */
  readonly title?: LocalText | undefined
  readonly text?: LocalText | undefined
  /** Contact for visitors: an address of mail, a URL, or a sentence. */
  readonly contact?: string | undefined
  /** HTML with `{{title}}`, `{{text}}`, `{{contact}}`, `{{id}}`, `{{status}}`, `{{lang}}` and `{{dir}}`, in place of our page. */
  readonly template?: string | undefined
}
