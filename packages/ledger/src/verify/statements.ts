/** The sentences in which evidence of this version says what it proves and does not prove, for those who open the file. */
export const STATEMENTS = {
  proves: [
    'The service that holds the signing key recorded these claims, findings and decisions, in this order.',
    'The records were in its log when the checkpoint was signed and have not been changed, moved or removed since.',
    'Each decision follows from the policy in this file; each finding was made with the data sets named in it.',
  ],
  does_not_prove: [
    'Where a person was. An address is not a person, and the country and class of an address are estimates with the confidence that is recorded.',
    'When a record was made, beyond the word of the service: its own clock wrote the time. A checkpoint that you kept earlier bounds it.',
    'That everything the service saw was recorded.',
  ],
  how_to_verify:
    'sallyport evidence verify FILE --keys KEYS, offline. Take the keys from the service itself, not from this file.',
} as const

/** Says what evidence about crawling proves. */
export const CRAWL_STATEMENTS = {
  proves: [
    'The service that holds the signing key recorded these counts of requests, with the preferences of the site and its decisions, in this order.',
    'The records were in its log when the checkpoint was signed and have not been changed, moved or removed since.',
    'Each robots.txt in this file is the one that the records name.',
  ],
  does_not_prove: [
    'That a request came from the operator, where the proof of a row says claim or disproved.',
    'When a record was made, beyond the word of the service and the timestamps in this file.',
    'That everything the service saw was recorded; it says itself how many requests it left out.',
  ],
  how_to_verify:
    'sallyport evidence verify FILE --keys KEYS --timestamp-ca CERTIFICATES, offline. Take the keys from the service itself, not from this file.',
} as const

/** The sentences of evidence that has timestamps, or whose service asks for them. */
export const ANCHORED_STATEMENTS = {
  ...STATEMENTS,
  does_not_prove: [
    STATEMENTS.does_not_prove[0],
    'When a record was made, beyond the word of the service: its own clock wrote the time. A timestamp or cosignature in this file, or a checkpoint that you kept earlier, bounds it.',
    STATEMENTS.does_not_prove[2],
  ],
  how_to_verify: `${STATEMENTS.how_to_verify} --timestamp-ca CERTIFICATES and --witness KEY name the authorities of time and the witnesses that you trust.`,
} as const
