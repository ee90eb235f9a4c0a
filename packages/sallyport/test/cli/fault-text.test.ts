import { LedgerUnavailable } from '@sallyport/ledger'
import t from 'tap'
import { faultText } from '../../src/cli/service/faults.ts'

t.test('a failure outside is one line with what it caused, and a bug shows where it is', async (t) => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  t.equal(faultText(full), 'database or disk is full (SQLITE_FULL)')
  const unavailable = new LedgerUnavailable('The ledger could not write.', { cause: full })
  t.equal(faultText(unavailable), 'The ledger could not write: database or disk is full (SQLITE_FULL)')
  t.match(faultText(new TypeError('x is undefined')), /^TypeError: x is undefined\n {4}at /)
  t.match(faultText(new Error('No.', { cause: new RangeError('y') })), /^No: RangeError: y\n {4}at /)
  const thrownAt = (file: string) =>
    faultText(
      Object.assign(new Error('Terminated.'), {
        stack: `Error: Terminated.\n    at Client.end (${file}:1:2)\n    at main (a.js:1:1)`,
      }),
    )
  t.equal(thrownAt('/app/node_modules/pg/lib/client.js'), 'Terminated.', 'what a library threw is no bug of ours')
  t.match(thrownAt('/app/node_modules/@sallyport/engine/dist/a.js'), /at Client\.end/)
  t.match(thrownAt('/app/node_modules/sallyport/dist/a.js'), /at Client\.end/)
  t.equal(faultText('late'), 'late')
})
