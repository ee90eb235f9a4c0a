/** `T` while it is filled in member by member: an object made by spreading is several times as slow. */
export type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

/** `T` with every member there and none `undefined`. */
export type Whole<T> = { [Member in keyof T]-?: Exclude<T[Member], undefined> }
