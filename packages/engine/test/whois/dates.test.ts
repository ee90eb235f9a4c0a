import t from 'tap'
import { parseWhoisDate } from '../../src/whois/dates.ts'
import { parseStatuses } from '../../src/whois/values.ts'

const DATES: readonly (readonly [text: string, date: string | undefined])[] = [
  ['2006-04-03T13:38:02Z', '2006-04-03'],
  ['2006-04-03 13:38:02.123 UTC', '2006-04-03'],
  ['2006.04.03 02:11:43 MSK', '2006-04-03'],
  ['20060403', '2006-04-03'],
  ['20060403133802', '2006-04-03'],
  ['hostmaster@example.net 20060403', '2006-04-03'],
  ['03-Apr-2006', '2006-04-03'],
  ['3 Apr 2006 13:38:02 GMT', '2006-04-03'],
  ['3rd April, 2006', '2006-04-03'],
  ['03-apr-06', '2006-04-03'],
  ['Mon Apr 03 13:38:02 GMT 2006', '2006-04-03'],
  ['03.04.2006 13:38:02', '2006-04-03'],
  ['03/04/2006', '2006-04-03'],
  ['04/23/2006', '2006-04-23'],
  ['2006년 04월 03일', '2006-04-03'],
  ['3rd of April 2006', '2006-04-03'],
  ['2006 April 3', '2006-04-03'],
  ['Apr-03-2006', '2006-04-03'],
  ['3 de abril de 2006', '2006-04-03'],
  ['3 août 2006', '2006-08-03'],
  ['before Aug-1996', '1996-08-01'],
  ['2999-12-31', '2999-12-31'],
  // The day is UTC's where the answer says which zone it means.
  ['2006-04-03T01:00:00+02:00', '2006-04-02'],
  ['2006-04-03T23:00:00-0500', '2006-04-04'],
  ['2006/04/03 08:00:00 (JST)', '2006-04-02'],
  ['2006-04-03 00:00:00 (UTC+8)', '2006-04-02'],
  ['3 xyz 2006', undefined],
  ['2006-02-30', undefined],
  ['31.04.2006', undefined],
  ['0000-00-00', undefined],
  ['', undefined],
  ['+358 29 1707007', undefined],
  ['198.51.100.7', undefined],
  [`${'9'.repeat(1000)}-01-01`, undefined],
]

t.test('dates of every form become one day', async (t) => {
  for (const [text, date] of DATES) t.equal(parseWhoisDate(text), date, text)
})

const STATUSES: readonly (readonly [text: string, statuses: readonly string[]])[] = [
  ['clientTransferProhibited https://icann.org/epp#clientTransferProhibited', ['clientTransferProhibited']],
  ['clientHold (http://www.icann.org/epp#clientHold)', ['clientHold']],
  ['client_transfer_prohibited', ['clientTransferProhibited']],
  ['server-hold', ['serverHold']],
  ['OK', ['ok']],
  ['clientHold, serverHold; ok', ['clientHold', 'serverHold', 'ok']],
  ['REGISTERED, DELEGATED, VERIFIED', ['REGISTERED', 'DELEGATED', 'VERIFIED']],
  ['Registered until expiry date.', ['Registered']],
  ['https://icann.org/epp', []],
  ['', []],
]

t.test('statuses are EPP codes in their own spelling, else the words of the registry', async (t) => {
  for (const [text, statuses] of STATUSES) t.same(parseStatuses(text), statuses, text)
})
