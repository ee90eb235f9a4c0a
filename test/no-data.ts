/** Every embedded source switched off: for tests in which the data does not matter. */
export const NO_DATA = Object.fromEntries(
  ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6'].map((id) => [
    id,
    { enabled: false },
  ]),
)
