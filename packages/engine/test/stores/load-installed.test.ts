import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { loadInstalled } from '../../src/stores/load-installed.ts'

t.test('a package that is there is loaded', async (t) => {
  const { Pool } = (await loadInstalled('pg', () => import('pg'))).default
  t.type(Pool, 'function')
})

t.test('one that is not installed is named, with the command that installs it', async (t) => {
  const name: string = 'sallyport-has-no-such-driver'
  await t.rejects(
    loadInstalled(name, () => import(name)),
    new SallyportError(
      'package_missing',
      `The configuration needs the package ${name}, which is not installed: npm install ${name}`,
      {
        package: name,
      },
    ),
  )
})

t.test('any other fault of loading stays what it is', async (t) => {
  const missing: string = './no-such-file.js'
  await t.rejects(
    loadInstalled('pg', () => import(missing)),
    { code: 'ERR_MODULE_NOT_FOUND' },
  )
  const fault = new TypeError('made')
  await t.rejects(
    loadInstalled('pg', () => Promise.reject(fault)),
    fault,
  )
})
