/** A fault and where it is in the values. */
export interface LocatedFault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly rule?: string | undefined
}
