import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import {
  connectionReason,
  fileReason,
  makeFolder,
  placeFault,
  readFault,
  readWhole,
  replaceFile,
  systemFault,
} from '#files'

const NO_PROC = process.platform === 'linux' && existsSync('/proc/self') ? false : 'no /proc on this machine'

t.test('a folder is made with those above it, once, with its mode', async (t) => {
  const root = t.testdir({ file: '' })
  const deep = join(root, 'a', 'b', 'c')
  makeFolder(deep, 0o700)
  t.equal(statSync(deep).mode & 0o777, 0o700)
  t.equal(statSync(join(root, 'a')).mode & 0o777, 0o700)
  makeFolder(deep)
  t.equal(statSync(deep).mode & 0o777, 0o700, 'one that is there stays as it is')
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(root, 'file', 'x')), { code: 'ENOTDIR' })
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling'))
  t.throws(() => makeFolder(join(root, 'dangling', 'x')), { code: 'EEXIST' })
  symlinkSync(join(root, 'a'), join(root, 'link'))
  makeFolder(join(root, 'link', 'd'))
  t.ok(statSync(join(root, 'a', 'd')).isDirectory())
})

t.test('where the kernel keeps its own files nothing is tried', { skip: NO_PROC }, async (t) => {
  const refused = ['/proc/sallyport', '/proc/sallyport/a/b', '/proc/self/x', '/proc/1/fd/x/y', '/proc/sys/kernel/x/y']
  for (const path of [...refused, '/sys/x/y', '/sys/fs/cgroup/x', '/dev/x', '/dev/pts/x/y']) {
    t.match(placeFault(path), /^is (in a file system of the kernel|in \/dev, which is for devices)$/, path)
    t.throws(() => makeFolder(path), { code: 'data_dir_unusable', message: new RegExp(`^${path} is `) }, path)
    t.notOk(existsSync(path))
  }
  const root = t.testdir()
  symlinkSync('/proc', join(root, 'link'))
  t.match(placeFault(join(root, 'link', 'x', 'y')), 'of the kernel', 'a link is followed')
  t.match(placeFault('/proc/sys/kernel/hostname'), 'of the kernel', 'what is there is no file of ours either')
  for (const path of [devNull, '/dev/stdout', '/proc/self/fd/2', join(root, 'x'), '/dev/shm/sallyport']) {
    if (path !== '/dev/shm/sallyport' || existsSync('/dev/shm')) t.equal(placeFault(path), undefined, path)
  }
})

t.test('a file of the kernel is not read, and what its links lead to is', { skip: NO_PROC }, async (t) => {
  const root = t.testdir({ file: 'text' })
  symlinkSync('/proc/version', join(root, 'link'))
  // The first would be waited for.
  for (const path of ['/proc/kmsg', '/proc/version', '/proc/self/environ', join(root, 'link')]) {
    if (!existsSync(path)) continue
    t.equal(readFault(path), 'is in a file system of the kernel', path)
    t.throws(() => readWhole(path), { message: 'is in a file system of the kernel' })
  }
  const open = openSync(join(root, 'file'), 'r')
  t.equal(readWhole(`/proc/self/fd/${open}`), 'text')
  closeSync(open)
  t.equal(readFault(join(root, 'none')), undefined)
  t.equal(readFault(root), 'is a folder')
  t.throws(() => readWhole(join(root, 'file', 'x')), { message: 'does not exist' })
  t.throws(() => readWhole('/dev/zero'), { message: 'is not a regular file' }, 'what would be read for ever')
})

const withCode = (code: string): Error => Object.assign(new Error('raw'), { code })

t.test('faults of files have words, and a code that is not known is shown', async (t) => {
  const folder = t.testdir({ a: 'text' })
  const findFault = (file: string): unknown => {
    try {
      return readFileSync(file)
    } catch (error) {
      return error
    }
  }
  t.equal(fileReason(findFault(folder)), 'is a folder')
  t.equal(fileReason(findFault(join(folder, 'none'))), 'does not exist')
  t.equal(systemFault(findFault(join(folder, 'none'))), `${join(folder, 'none')} does not exist`)
  t.equal(fileReason(withCode('ENOSPC'), 'written'), 'cannot be written: the disk is full')
  t.equal(fileReason(withCode('EIO')), 'cannot be read (EIO)')
  t.equal(fileReason(new Error('x'), 'written'), 'cannot be written')
  for (const other of [new TypeError('a bug'), withCode('ENOENT'), 'text', undefined])
    t.equal(systemFault(other), undefined)
})

t.test('faults of connections have words, and those of OpenSSL no place in its source', async (t) => {
  t.equal(connectionReason(withCode('ENOTFOUND')), 'its host name is unknown')
  t.equal(connectionReason(withCode('ERR_SSL_WRONG_VERSION_NUMBER')), 'it does not speak TLS')
  t.equal(connectionReason(withCode('ERR_SSL_OTHER')), 'the TLS handshake fails (ERR_SSL_OTHER)')
  for (const other of [withCode('ENOENT'), new Error('x')]) t.equal(connectionReason(other), undefined)
})

t.test('a replacement that fails leaves the file as it was, and its contents closed', async (t) => {
  const folder = t.testdir({ file: 'before' })
  const broken = new Readable({
    read() {
      this.destroy(new Error('at once'))
    },
  })
  await t.rejects(replaceFile(join(folder, 'file'), broken), { message: 'at once' })
  t.same(readdirSync(folder), ['file'])
  t.equal(readWhole(join(folder, 'file')), 'before')
  const unread = Readable.from(['a'])
  await t.rejects(replaceFile(join(folder, 'none', 'file'), unread), { code: 'ENOENT' })
  t.ok(unread.destroyed)
})
