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
